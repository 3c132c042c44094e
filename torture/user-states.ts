/**
 * What people have lying about when they start a run, and what they do while it is under way: all
 * of it drawn from a seed, each piece with content that exists nowhere else.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Random } from "./rig.ts";
import { git, type Site } from "./run-rig.ts";

// ── the project ────────────────────────────────────────────────────────────────────────────────

export const planFile = "docs/plan.md";

/** Paths that phases touch; people are drawn to them too. */
export const phasePaths = [
  "app/one.txt",
  "app/two.txt",
  "app/old.txt",
  "app/mode.sh",
  "gen/new.txt",
  "gen/deep/er.txt",
  "thing",
  "thing/inner.txt",
  "fold/a.txt",
  "fold/b.txt",
  "fold",
  "link",
  planFile,
] as const;

const otherPaths = [
  "mine/a.txt",
  "mine/b c.txt",
  "mine/ü.txt",
  "app/three.txt",
  "README.md",
  "mine/-dash",
  "mine/sub/x.txt",
];

export const projectFiles: Readonly<Record<string, string>> = {
  "README.md": "# A project\n",
  ".gitignore": "*.log\nignored/\n",
  "app/one.txt": "1\n2\n3\n4\n5\n",
  "app/two.txt": "two\n",
  "app/three.txt": "three\n",
  "app/old.txt": "old\n",
  "app/mode.sh": "#!/bin/sh\n",
  thing: "a file that becomes a folder\n",
  "fold/a.txt": "in a folder that becomes a file\n",
  "fold/b.txt": "in a folder that becomes a file too\n",
  "mine/a.txt": "mine\n",
  "mine/b c.txt": "mine too\n",
  "mine/sub/x.txt": "x\n",
  ".autodev/config.yaml": `gates: { test: 'sh "$TORTURE/gate.sh"' }\nagents: { mine: { command: 'sh "$TORTURE/agent.sh"', confined: false } }\n`,
  [planFile]: `# A plan

| Phase | Name  | Depends On | Parallel With | Estimate | Status |
| ----- | ----- | ---------- | ------------- | -------- | ------ |
| 1     | One   | -          | 2             | 1        | ⬜     |
| 2     | Two   | -          | 1             | 1        | ⬜     |
| 3     | Three | 1, 2       | -             | 1        | ⬜     |

### Phase 1: One
#### Tasks
- [ ] Do one
#### Definition of Done
- [ ] one is done

### Phase 2: Two
#### Tasks
- [ ] Do two
#### Definition of Done
- [ ] two is done

### Phase 3: Three
#### Tasks
- [ ] Do three
#### Definition of Done
- [ ] three is done
`,
};

/** Whoever finds an act under its name is the user for a moment: once, and on record when done. */
const act = (name: string): string => `
if mv "$TORTURE/acts/${name}" "$TORTURE/acts/${name}.begun" 2>/dev/null; then
  (cd "$TORTURE/repo" && sh "$TORTURE/acts/${name}.begun" >/dev/null 2>&1 && touch "$TORTURE/acts/${name}.done") || true
fi`;

/** What was there and a line more, as a file of its own: never through a link of the user's. */
const putByRenaming = `put() {
  mkdir -p "$(dirname "$1")"
  { cat; echo "$2"; } > .put-tmp
  rm -rf "$1"
  mv .put-tmp "$1"
}`;

export const agentScript = `set -e
${putByRenaming}
${act("work-$AUTODEV_PHASE")}
case "$AUTODEV_PHASE" in
1) cat app/one.txt | put app/one.txt 'one, by the phase'; put gen/new.txt new < /dev/null; put gen/deep/er.txt deep < /dev/null ;;
2) put app/two.txt 'two, by the phase' < /dev/null; rm -f app/old.txt; chmod +x app/mode.sh || true; rm -f link; ln -s app/one.txt link ;;
3) cat app/one.txt | put app/one.txt 'three, by the phase'; rm -rf thing; put thing/inner.txt inner < /dev/null; put fold fold < /dev/null ;;
esac
printf '{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"feat: part %s"}' "$AUTODEV_PHASE" "$AUTODEV_PHASE" > "$AUTODEV_RESULT"
`;

export const gateScript = `set -e
${act("gate-$AUTODEV_PHASE")}
exit 0
`;

/** A git on PATH under whose hands somebody writes a file: between our looking and our writing. */
export const gitInTheMiddle = `#!/bin/sh
command=
skip=
for word; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case "$word" in -c) skip=1 ;; -*) ;; *) command=$word; break ;; esac
done
PATH=\${PATH#"$TORTURE/bin:"}
if mv "$TORTURE/acts/git-$command" "$TORTURE/acts/git-$command.begun" 2>/dev/null; then
  (
    unset GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_LITERAL_PATHSPECS GIT_OPTIONAL_LOCKS
    cd "$TORTURE/repo" && sh "$TORTURE/acts/git-$command.begun" >/dev/null 2>&1 && touch "$TORTURE/acts/git-$command.done"
  ) </dev/null
fi
exec git "$@"
`;

/** Two commits, a branch, a tag, something that was fetched. */
export function makeProject(site: Site): void {
  for (const folder of [site.repo, ...Object.values(homes(site))])
    fs.mkdirSync(folder, { recursive: true });
  git(site, "init", "--quiet", "--initial-branch=main", "--template=");
  // Whoever acts as the user meanwhile has no GIT_* in his environment.
  git(site, "config", "user.name", "User");
  git(site, "config", "user.email", "user@example.invalid");
  for (const [file, text] of Object.entries(projectFiles)) put(site, file, text);
  git(site, "add", "--all");
  git(site, "commit", "--quiet", "--message=first");
  git(site, "tag", "v1");
  git(site, "switch", "--quiet", "--create", "other");
  put(site, "mine/a.txt", "on another branch\n");
  git(site, "commit", "--quiet", "--all", "--message=other");
  git(site, "switch", "--quiet", "main");
  git(site, "update-ref", "refs/remotes/origin/main", "HEAD");
  put(site, "README.md", "# A project, not pushed yet\n");
  git(site, "commit", "--quiet", "--all", "--message=second");
}

const homes = ({ env }: Site): Record<string, string> => ({
  home: env["HOME"] ?? "",
  config: env["XDG_CONFIG_HOME"] ?? "",
  cache: env["XDG_CACHE_HOME"] ?? "",
});

const put = ({ repo }: Site, file: string, content: string | Buffer): void => {
  const full = path.join(repo, file);
  fs.mkdirSync(path.dirname(full), { recursive: true });
  fs.writeFileSync(full, content);
};

// ── before ─────────────────────────────────────────────────────────────────────────────────────

/** Git itself is in the middle of something: a run has to refuse. */
export type Busy = "merge" | "rebase" | "cherry-pick";

export interface Lying {
  readonly what: string[];
  readonly busy?: Busy;
  readonly conflicted: boolean;
}

/** Never twice the same, so that what is lost cannot be found by chance. */
let written = 0;
function content(draw: Random): Buffer {
  const token = `user ${draw.below(1e9)} ${written++}`;
  const kind = draw.below(5);
  if (kind === 0) return Buffer.from(`${token}\r\nwith other line ends\r\n`);
  if (kind === 1) return Buffer.concat([Buffer.from([0, 255, 254, 10, 13]), Buffer.from(token)]);
  if (kind === 2) return Buffer.from(token);
  return Buffer.from(`${token}\n${"more\n".repeat(draw.below(20))}`);
}

export function layAbout(site: Site, draw: Random, mayBeBusy: boolean): Lying {
  const what: string[] = [];
  if (draw.chance(0.3)) what.push(...stash(site, draw));
  if (draw.chance(0.15)) {
    git(site, "checkout", "--quiet", "--detach");
    what.push("detached HEAD");
  }
  if (draw.chance(0.12) && mayBeBusy) {
    const busy = (["merge", "rebase", "cherry-pick"] as const)[draw.below(3)] as Busy;
    becomeBusy(site, busy);
    return { what: [...what, busy], busy, conflicted: false };
  }
  const times = draw.chance(0.15) ? 0 : draw.between(1, 6);
  for (let at = 0; at < times; at++) {
    try {
      what.push(oneThing(site, draw));
    } catch {
      // Git refuses (a link in the way, say): what came of it so far lies about too.
      what.push("half done");
    }
  }
  const conflicted = draw.chance(0.06);
  if (conflicted) what.push(conflict(site, draw));
  return { what, conflicted };
}

function stash(site: Site, draw: Random): string[] {
  const entries = draw.between(1, 2);
  for (let at = 0; at < entries; at++) {
    put(site, "app/three.txt", content(draw));
    put(site, `mine/stashed ${at}.txt`, content(draw));
    git(site, "stash", "push", "--quiet", "--include-untracked", "--message", `stash ${at}`);
  }
  return [`${entries} stashed`];
}

/** Both sides have changed one line, and somebody has still to say which it shall be. */
function becomeBusy(site: Site, busy: Busy): void {
  git(site, "switch", "--quiet", "--create", "clash", "HEAD~1");
  put(site, "README.md", "# Clash\n");
  git(site, "commit", "--quiet", "--all", "--message=clash");
  git(site, "checkout", "--quiet", "--force", "main");
  const commands = {
    merge: ["merge", "clash"],
    rebase: ["rebase", "clash"],
    "cherry-pick": ["cherry-pick", "clash"],
  };
  try {
    git(site, ...commands[busy]);
  } catch {
    return;
  }
  throw new Error(`${busy} went through`);
}

const isThere = (site: Site, file: string): boolean =>
  fs.lstatSync(path.join(site.repo, file), { throwIfNoEntry: false })?.isFile() === true;

/** Somewhere a file is, or could be without anything else having to go. */
function anywhere(site: Site, draw: Random): string {
  const all = [...phasePaths, ...otherPaths];
  for (;;) {
    const file = all[draw.below(all.length)] as string;
    const full = path.join(site.repo, file);
    if (fs.lstatSync(full, { throwIfNoEntry: false })?.isDirectory()) continue;
    const parent = fs.lstatSync(path.dirname(full), { throwIfNoEntry: false });
    if (parent && !parent.isDirectory()) continue;
    if (file !== planFile) return file;
  }
}

const somethingTracked = (site: Site, draw: Random): string | undefined => {
  const files = git(site, "ls-files", "-z")
    .split("\0")
    .filter(
      (file) => file !== "" && file !== planFile && !file.startsWith(".") && isThere(site, file),
    );
  return files[draw.below(files.length)];
};

function oneThing(site: Site, draw: Random): string {
  const file = anywhere(site, draw);
  const tracked = somethingTracked(site, draw) ?? "README.md";
  switch (draw.below(12)) {
    case 0:
      put(site, tracked, content(draw));
      return `changed ${tracked}`;
    case 1:
      put(site, file, content(draw));
      git(site, "add", "--", file);
      return `staged ${file}`;
    case 2:
      put(site, file, content(draw));
      git(site, "add", "--", file);
      put(site, file, content(draw));
      return `staged and changed again ${file}`;
    case 3:
      put(site, file, content(draw));
      return `written ${file}`;
    case 4: {
      const hidden = ["x.log", "ignored/y.txt", "fold/z.log", "thing.log", "gen/w.log"][
        draw.below(5)
      ] as string;
      put(site, hidden, content(draw));
      return `ignored ${hidden}`;
    }
    case 5:
      fs.rmSync(path.join(site.repo, tracked), { force: true });
      return `deleted ${tracked}`;
    case 6:
      git(site, "rm", "--quiet", "--cached", "--force", "--", tracked);
      return `taken out of the index ${tracked}`;
    case 7: {
      const to = `mine/moved ${draw.below(1000)}.txt`;
      fs.mkdirSync(path.join(site.repo, "mine"), { recursive: true });
      git(site, "mv", "--", tracked, to);
      return `renamed ${tracked}`;
    }
    case 8: {
      if (isThere(site, file)) return "nothing";
      put(site, file, content(draw));
      git(site, "add", "--intent-to-add", "--", file);
      return `intended ${file}`;
    }
    case 9:
      fs.chmodSync(path.join(site.repo, tracked), 0o755);
      return `made executable ${tracked}`;
    case 10:
      fs.rmSync(path.join(site.repo, file), { force: true });
      fs.mkdirSync(path.dirname(path.join(site.repo, file)), { recursive: true });
      fs.symlinkSync(`no/where-${draw.below(1e9)}`, path.join(site.repo, file));
      return `linked ${file}`;
    default: {
      // Exactly where a phase is going to write.
      const place = ["gen/new.txt", "gen/deep/er.txt", "link"][draw.below(3)] as string;
      if (fs.lstatSync(path.join(site.repo, place), { throwIfNoEntry: false })) return "nothing";
      put(site, place, content(draw));
      return `in the way ${place}`;
    }
  }
}

/** An index with all three sides of one file, as a `stash pop` leaves it. */
function conflict(site: Site, draw: Random): string {
  const places = ["app/one.txt", "mine/a.txt", "gen/new.txt", "mine/both.txt"];
  const file = places[draw.below(places.length)] as string;
  const blobs = [1, 2, 3].map(() => {
    const full = path.join(site.folder, "side");
    fs.writeFileSync(full, content(draw));
    return git(site, "hash-object", "-w", "--no-filters", full).trim();
  });
  const lines = blobs.map((blob, at) => `100644 ${blob} ${at + 1}\t${file}`);
  const { status, stderr } = spawnSync("git", ["update-index", "--index-info"], {
    cwd: site.repo,
    env: { ...site.env },
    input: `0 ${"0".repeat(40)}\t${file}\n${lines.join("\n")}\n`,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`git update-index: ${stderr}`);
  put(
    site,
    file,
    Buffer.from(`<<<<<<< ours\n${draw.below(1e9)}\n=======\ntheirs\n>>>>>>> theirs\n`),
  );
  return `conflicted ${file}`;
}

// ── meanwhile ──────────────────────────────────────────────────────────────────────────────────

/** Something that people do while the run is under way. */
export interface Act {
  /** Who finds it: `work-2`, `gate-1`; or between two sessions. */
  readonly name: string;
  readonly script: string;
  /** What they write, and where; whatever they had there before, they have replaced themselves. */
  readonly writes: ReadonlyMap<string, Buffer>;
  readonly removes: readonly string[];
  /** What they add to the plan. */
  readonly note?: string;
  /** Refs that they move themselves. */
  readonly moves: boolean;
  readonly stages: boolean;
  readonly stashes: boolean;
}

export function drawActs(draw: Random, folder: string): Act[] {
  if (draw.chance(0.35)) return [];
  const places = draw.shuffled([
    "work-1",
    "work-2",
    "work-3",
    "gate-1",
    "gate-2",
    "gate-3",
    "git-checkout-index",
    "between",
  ]);
  return places.slice(0, draw.between(1, 3)).map((name) => drawAct(name, draw, folder));
}

const plain = {
  writes: new Map<string, Buffer>(),
  removes: [],
  moves: false,
  stages: false,
  stashes: false,
};

function drawAct(name: string, draw: Random, folder: string): Act {
  const files = [...phasePaths, ...otherPaths].filter(
    (file) => file !== planFile && !/^(?:thing|fold)/.test(file),
  );
  // Two times out of three, what a phase touches too.
  const near = files.filter((each) => phasePaths.some((touched) => touched === each));
  const among = draw.chance(0.66) ? near : files;
  const file = among[draw.below(among.length)] as string;
  const bytes = content(draw);
  const source = path.join(folder, `${name}.bytes`);
  fs.writeFileSync(source, bytes);
  // By renaming, as editors do: a kill in between leaves the old bytes or the new ones.
  const write = `mkdir -p "$(dirname '${file}')"; cp '${source}' .act-${name} && mv -f .act-${name} '${file}'`;
  const writes = new Map([[file, bytes]]);
  switch (draw.below(9)) {
    case 0:
    case 1:
    case 2:
      return { ...plain, name, script: write, writes };
    case 3:
      return { ...plain, name, script: `${write}; git add -- '${file}'`, writes, stages: true };
    case 4:
      return { ...plain, name, script: `rm -f '${file}'`, removes: [file] };
    case 5:
      return {
        ...plain,
        name,
        script: `${write}; git add -- '${file}' && git commit --quiet --message='by the user' -- '${file}'`,
        writes,
        moves: true,
        stages: true,
      };
    case 6:
      return {
        ...plain,
        name,
        script: "git commit --quiet --amend --message='said better' --allow-empty",
        moves: true,
        stages: true,
      };
    case 7:
      return {
        ...plain,
        name,
        script: "git branch --force other HEAD; git tag --force moved",
        moves: true,
      };
    default: {
      const note = `A note, ${draw.below(1e9)}.`;
      const script = `{ cat ${planFile}; printf '\\n${note}\\n'; } > .act-${name} && mv -f .act-${name} ${planFile}`;
      return { ...plain, name, script, removes: [planFile], note };
    }
  }
}
