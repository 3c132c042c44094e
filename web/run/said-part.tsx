/** One part of a conversation with an agent, by what it is. */
import type { ComponentChildren } from "preact";
import { Text } from "../text.tsx";
import type { Part } from "./conversation.ts";
import { still } from "./still.ts";

export const SaidPart = still<{ part: Part }>(
  (one, other) => one.part === other.part,
  ({ part }) => {
    switch (part.is) {
      case "text":
        return (
          <div class="run-message">
            <Text of={part.text} />
          </div>
        );
      case "thought":
        return (
          <details class="run-thought">
            <summary>
              <span class="muted">thought</span> <Text of={firstLine(part.text)} line />
            </summary>
            <Text of={part.text} />
          </details>
        );
      case "tool":
        return (
          <Act mark={toolMarks[part.state]} word={part.state} tone={part.state}>
            <b>
              <Text of={part.name} line />
            </b>{" "}
            <Text of={part.what} line />
          </Act>
        );
      case "command":
        return (
          <Act
            mark={part.passed ? "✓" : "✕"}
            word={part.passed ? "passed" : "failed"}
            tone={part.passed ? "done" : "failed"}
          >
            <span class="muted">$</span> <Text of={part.command} line />
          </Act>
        );
      case "file":
        return (
          <Act mark={fileMarks[part.change]} word={part.change} tone="done">
            <Text of={part.path} line />
          </Act>
        );
      case "plan":
        return (
          <ul class="run-checks" aria-label="The agent's plan">
            {part.steps.map(({ text, done }, at) => (
              <li key={at} data-done={done || undefined}>
                <span aria-hidden="true">{done ? "✓" : "○"}</span>
                <span class="visually-hidden">{done ? "done: " : "open: "}</span>
                <Text of={text} line />
              </li>
            ))}
          </ul>
        );
      case "heading":
        return (
          <h3 class="run-part">
            <Text of={part.text} line />
          </h3>
        );
      case "note":
        return (
          <p class="run-note">
            <Text of={part.text} line />
          </p>
        );
      case "lines":
        return (
          <pre class="run-lines mono">
            <Text of={part.lines.join("\n")} />
          </pre>
        );
    }
  },
);

const toolMarks = { started: "…", done: "✓", failed: "✕" } as const;
const fileMarks = { create: "+", modify: "~", delete: "−" } as const;

interface ActProps {
  readonly mark: string;
  readonly word: string;
  readonly tone: "started" | "done" | "failed";
  readonly children: ComponentChildren;
}

const Act = ({ mark, word, tone, children }: ActProps) => (
  <p class="run-act mono" data-state={tone}>
    <span class="run-act-mark" aria-hidden="true">
      {mark}
    </span>
    <span class="visually-hidden">{word}: </span>
    <span class="run-act-what">{children}</span>
  </p>
);

const firstLine = (text: string): string => text.trimStart().split("\n", 1)[0] ?? "";
