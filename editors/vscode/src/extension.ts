import { delimiter } from "node:path";
import * as vscode from "vscode";
import { LanguageClient, TransportKind } from "vscode-languageclient/node";
import { start } from "./server";

let client: LanguageClient | undefined;
let restarts: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("trainlint.restart", restart),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((change) =>
      change.affectsConfiguration("trainlint") ? restart() : undefined,
    ),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

/** One after the other, as settings may change while a server starts. */
function restart(): Promise<void> {
  return (restarts = restarts.then(restarted, restarted));
}

async function restarted(): Promise<void> {
  await deactivate();
  const settings = vscode.workspace.getConfiguration("trainlint");
  const { command, args, env } = start(
    {
      path: settings.get("path", "trainlint"),
      runOwnRules: settings.get("runOwnRules", false),
      isTrusted: vscode.workspace.isTrusted,
      folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    },
    process.env,
    delimiter,
  );
  client = new LanguageClient(
    "trainlint",
    "trainlint",
    { command, args, transport: TransportKind.stdio, options: { env } },
    {
      documentSelector: [
        { scheme: "file", language: "python" },
        { scheme: "untitled", language: "python" },
        { notebook: "jupyter-notebook", language: "python" },
      ],
    },
  );
  try {
    await client.start();
  } catch {
    client = undefined;
    const said = `trainlint: ${command} could not be started. Install it with: pip install 'trainlint[server]'`;
    void vscode.window.showErrorMessage(said);
  }
}
