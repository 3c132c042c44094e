/** What a step has left below `_docs/`: the files, and the one that is read, as it is meant to be read. */
import { useEffect, useRef } from "preact/hooks";
import type { ArtifactAnswer, ArtifactsAnswer } from "../../src/core/board/wire.ts";
import { Icon } from "../icon.tsx";
import { Markdown } from "../markdown.tsx";
import { Text, visible } from "../text.tsx";
import { type Asked, useAnswer } from "../use-answer.ts";
import type { View } from "../view.ts";

interface Props {
  readonly view: View;
  readonly step: string;
  readonly artifact?: string;
  /** The past: as of this commit. */
  readonly commit?: string;
  /** The past, before anything was committed. */
  readonly none?: true;
}

export function Artifacts({ view, step, artifact, commit, none }: Props) {
  const { api, board, to } = view;
  const { flow } = board;
  // Asked again when a step or a session has come to an end: then files have changed.
  const ended = flow.sessions.filter(({ how }) => how !== undefined).length;
  const since = `${commit ?? ""} ${flow.steps.length} ${ended} ${board.state.flow?.status}`;
  const files = useAnswer(none ? undefined : since, () => api.artifacts(commit));
  const key = artifact === undefined || none ? undefined : `${since} ${artifact}`;
  const file = useAnswer(key, () => api.artifact(artifact ?? "", commit));
  const open = (path: string): string => to({ view: "flow", step, artifact: path });
  return (
    <section class="artifacts" aria-labelledby="artifacts">
      <h2 id="artifacts">What it left</h2>
      {none ? (
        <p class="card quiet-card">Nothing of it had been committed at that moment.</p>
      ) : (
        <Files {...{ files, step, open }} {...(artifact !== undefined && { artifact })} />
      )}
      {artifact !== undefined && !none && <Reader path={artifact} file={file} open={open} />}
    </section>
  );
}

interface FilesProps {
  readonly files: Asked<ArtifactsAnswer>;
  readonly step: string;
  readonly artifact?: string;
  readonly open: (path: string) => string;
}

function Files({ files: { value, trouble }, step, artifact, open }: FilesProps) {
  if (trouble)
    return (
      <p class="card quiet-card">
        <Text of={trouble.message} />
      </p>
    );
  if (!value) return <div class="card skeleton" aria-label="Loading" />;
  const own = value.files.filter((file) => file.step === step);
  const others = value.files.filter((file) => file.step !== step);
  return (
    <div class="card files">
      {own.length === 0 && <p class="muted files-none">No file of this step is there.</p>}
      <FileList files={own} {...{ open, artifact }} />
      {others.length > 0 && (
        <details open={others.some(({ path }) => path === artifact)}>
          <summary>
            {others.length} {others.length === 1 ? "file" : "files"} of other steps
          </summary>
          <FileList files={others} {...{ open, artifact }} />
        </details>
      )}
    </div>
  );
}

const mostFiles = 200;

const FileList = ({
  files,
  artifact,
  open,
}: {
  files: ArtifactsAnswer["files"];
  artifact: string | undefined;
  open: (path: string) => string;
}) => (
  <ul>
    {files.slice(0, mostFiles).map(({ path, bytes }) => (
      <li key={path}>
        <a href={open(path)} aria-current={path === artifact ? "true" : undefined}>
          <Icon is="file" />
          <span class="ellipsis">
            <Text of={path} line />
          </span>
          <span class="num muted">{sizeOf(bytes)}</span>
        </a>
      </li>
    ))}
    {files.length > mostFiles && <li class="muted">and {files.length - mostFiles} more</li>}
  </ul>
);

const sizeOf = (bytes: number): string =>
  bytes < 1000
    ? `${bytes} B`
    : bytes < 999_500
      ? `${(bytes / 1000).toFixed(bytes < 9950 ? 1 : 0)} kB`
      : `${(bytes / 1e6).toFixed(1)} MB`;

interface ReaderProps {
  readonly path: string;
  readonly file: Asked<ArtifactAnswer>;
  readonly open: (path: string) => string;
}

function Reader({ path, file: { value, trouble, loading }, open }: ReaderProps) {
  const top = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a narrow page it lies below everything else: whoever has chosen it wants to read it.
    const from = top.current?.getBoundingClientRect().top ?? 0;
    if (from > innerHeight * 0.7) top.current?.scrollIntoView();
  }, [value?.path]);
  return (
    <article class="card reader" ref={top} aria-busy={loading} aria-label={visible(path)}>
      <header class="mono muted">
        <Text of={path} line />
      </header>
      {trouble ? (
        <p>
          <Text of={trouble.message} />
        </p>
      ) : value?.path === path ? (
        <Content file={value} open={open} />
      ) : (
        <div class="skeleton" aria-label="Loading" />
      )}
    </article>
  );
}

function Content({ file, open }: { file: ArtifactAnswer; open: (path: string) => string }) {
  return (
    <>
      {file.is === "binary" ? (
        <p class="muted">This is no text ({sizeOf(file.bytes)}).</p>
      ) : file.blocks ? (
        <Markdown blocks={file.blocks} to={open} />
      ) : (
        <pre class="plain" tabIndex={0}>
          {visible(file.text ?? "")}
        </pre>
      )}
      {file.cut && <p class="muted">The rest is too long to be shown here.</p>}
    </>
  );
}
