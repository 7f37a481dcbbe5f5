import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { OWN_RULES, start, Wishes } from "../src/server";

const wishes: Wishes = { path: "trainlint", runOwnRules: true, isTrusted: true, folders: ["/a", "/b"] };

test("the server is started with the environment that is there", () => {
  const started = start({ ...wishes, runOwnRules: false }, { PATH: "/bin" }, ":");
  assert.deepEqual(started, { command: "trainlint", args: ["server"], env: { PATH: "/bin" } });
  assert.equal(start({ ...wishes, path: "  " }, {}, ":").command, "trainlint");
  assert.equal(start({ ...wishes, path: "/x y/trainlint" }, {}, ":").command, "/x y/trainlint");
});

test("rules of a workspace run where it is trusted and they are wanted", () => {
  assert.equal(start(wishes, {}, ":").env[OWN_RULES], "/a:/b");
  assert.equal(start(wishes, { [OWN_RULES]: "/mine" }, ";").env[OWN_RULES], "/mine;/a;/b");
  for (const not of [{ isTrusted: false }, { runOwnRules: false }, { folders: [] }]) {
    assert.equal(start({ ...wishes, ...not }, {}, ":").env[OWN_RULES], undefined);
    assert.equal(start({ ...wishes, ...not }, { [OWN_RULES]: "/mine" }, ":").env[OWN_RULES], "/mine");
  }
});

test("a workspace that is not trusted decides nothing that is run", () => {
  const { capabilities, contributes } = JSON.parse(readFileSync("package.json", "utf8"));
  const settings = Object.keys(contributes.configuration.properties);
  assert.deepEqual(capabilities.untrustedWorkspaces.restrictedConfigurations, settings);
});
