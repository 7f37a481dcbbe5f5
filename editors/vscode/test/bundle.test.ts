import assert from "node:assert/strict";
import Module from "node:module";
import { resolve } from "node:path";
import { test } from "node:test";

/** Stands for whatever the editor offers: classes that are extended, functions that are called, numbers that are read. */
const anything: unknown = new Proxy(class {}, {
  get: (target, name) => (name === "prototype" ? target.prototype : name === Symbol.toPrimitive ? () => 0 : anything),
  apply: () => anything,
});

test("what is packaged needs nothing but the editor", () => {
  const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
  const load = loader._load;
  const asked: string[] = [];
  loader._load = (name, ...rest) => {
    asked.push(name);
    return name === "vscode" ? anything : load(name, ...rest);
  };
  try {
    const extension = require(resolve("dist/extension.js"));
    assert.equal(typeof extension.activate, "function");
    assert.equal(typeof extension.deactivate, "function");
    assert.deepEqual(asked.filter((one) => one !== "vscode" && !Module.isBuiltin(one)).slice(1), []);
  } finally {
    loader._load = load;
  }
});
