/** How the server is started: without anything of VS Code, so that it can be tested. */

/** The environment variable that lists folders whose own rules run. */
export const OWN_RULES = "TRAINLINT_OWN_RULES";

export interface Wishes {
  /** The command as the settings name it. */
  readonly path: string;
  /** Whether rules of the workspace's own are wanted. */
  readonly runOwnRules: boolean;
  /** Whether the user trusts the workspace. */
  readonly isTrusted: boolean;
  /** Its folders. */
  readonly folders: readonly string[];
}

export interface Start {
  readonly command: string;
  readonly args: string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The server's command and environment. Folders that the user's own environment lists stay; those of the workspace are
 * added only where it is trusted and its rules are wanted.
 */
export function start(wishes: Wishes, around: NodeJS.ProcessEnv, separator: string): Start {
  const env: NodeJS.ProcessEnv = { ...around };
  if (wishes.runOwnRules && wishes.isTrusted && wishes.folders.length > 0) {
    env[OWN_RULES] = [...(around[OWN_RULES] ? [around[OWN_RULES]] : []), ...wishes.folders].join(separator);
  }
  return { command: wishes.path.trim() || "trainlint", args: ["server"], env };
}
