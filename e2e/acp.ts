/**
 * A client of the Agent Client Protocol, as small as a recording allows: JSON-RPC, one message a
 * line. It offers the agent nothing (no files, no terminals) and answers what it is asked.
 */
import type { Reins } from "./run-program.ts";
import type { Played, Stage } from "./stage.ts";

export interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Peer {
  /** Never rejects: an error is an answer. */
  ask(method: string, params: object): Promise<Answer>;
  tell(method: string, params: object): void;
}

export interface Conversation {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** What is answered when the agent asks for a permission. */
  readonly permission?: "allow_once" | "reject_once";
  drive(peer: Peer): Promise<void>;
}

interface Message extends Answer {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly options?: readonly PermissionOption[] };
}

interface PermissionOption {
  readonly optionId: string;
  readonly kind: string;
}

/** How long an agent may take to see that its input has ended; some never do. */
const graceMs = 1500;

export function converse(stage: Stage, conversation: Conversation): Promise<Played> {
  const { args, env, timeoutMs, permission = "allow_once", drive } = conversation;
  const waiting = new Map<number | string, (answer: Answer) => void>();
  let nextId = 0;
  const send = (reins: Reins, message: object): void =>
    reins.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return stage.play({
    args,
    ...(env && { env }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    begin(reins) {
      const peer: Peer = {
        ask: (method, params) =>
          new Promise((resolve) => {
            const id = nextId++;
            waiting.set(id, resolve);
            send(reins, { id, method, params });
          }),
        tell: (method, params) => send(reins, { method, params }),
      };
      void drive(peer).then(() => {
        reins.endInput();
        setTimeout(() => reins.kill("SIGKILL"), graceMs);
      });
    },
    onOutput(line, reins) {
      const message = messageIn(line);
      if (message?.id === undefined) return;
      const { id, method, params } = message;
      if (method === undefined) {
        waiting.get(id)?.(message);
        waiting.delete(id);
      } else if (method === "session/request_permission") {
        const chosen = params?.options?.find(({ kind }) => kind === permission);
        const outcome = chosen
          ? { outcome: "selected", optionId: chosen.optionId }
          : { outcome: "cancelled" };
        send(reins, { id, result: { outcome } });
      } else {
        send(reins, { id, error: { code: -32601, message: `no method ${method}` } });
      }
    },
  });
}

/** Goose and others print words before they speak the protocol. */
function messageIn(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}
