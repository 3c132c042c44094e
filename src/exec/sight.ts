/**
 * What a command does not see of the machine, and what it sees instead: mounts in the namespace
 * that it has for itself anyway, gone with it. As another user than root we are root in a user
 * namespace for as long as that takes; the command is itself again in one below, from where no
 * mount of ours can be undone.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { bubblewrap, wrapped } from "./bubblewrap.ts";
import { shell } from "./enclosure.ts";
import { found } from "./find-program.ts";
import {
  inFirstProcess,
  type Launcher,
  launcherBy,
  type Means,
  meansAllowed,
  once,
} from "./namespace.ts";

/** A folder as the command sees it: what lies in `below` too; what it changes stays in `folder`. */
export interface Layer {
  readonly folder: string;
  readonly below: string;
  /** The kernel's own, empty, on the same disk as `folder`. */
  readonly work: string;
}

export interface Sight {
  /** Folders that look empty to the command and cannot be written. */
  readonly hide: readonly string[];
  /** Folders inside those that stay readable. */
  readonly keep: readonly string[];
  readonly layer: Layer | undefined;
  /** One after the other: a place inside one that is closed can be opened again. */
  readonly access?: readonly Access[];
  /** `off`: there is no other machine, and of this one only what listens in there too. */
  readonly network?: "off" | undefined;
}

/** A folder or a file, and whether the command can write there, whatever its user may. */
export interface Access {
  readonly path: string;
  readonly writable: boolean;
  /** It looks empty instead, also within a folder that was closed or opened before. */
  readonly hidden?: true;
}

/**
 * Reads its orders up to "--", then goes to the folder that is named next. A hidden folder of which
 * something is kept is held open as 5 until that has its place again; read-only, where the kernel
 * lets us say so. A file that somebody replaces in this very moment (git its index) is closed at
 * the next try; what cannot be closed stays open, and the verification does what it can. Closing takes
 * one call where "mount" understands it, and two where it leaves that half undone without a word.
 * A network of its own begins with its loopback down; without "ip" the kernel's files bring it up.
 */
const arrange = `
mount=$1
shift
bound() {
  [ "$1" = ro ] && "$mount" -c --bind -o ro "$2" "$2" && [ ! -w "$2" ] && return
  "$mount" -c --bind "$2" "$2" &&
    { "$mount" -c -o "remount,bind,$1" "$2" || "$mount" -c -o "remount,bind,$1,nosuid,nodev" "$2"; }
}
while [ "$1" != -- ]; do
  case $1 in
    net) { [ "$2" ] && "$2" link set lo up; } || {
      "$mount" -t sysfs autodev /sys && echo 0x9 >/sys/class/net/lo/flags &&
        "\${mount%mount}umount" /sys
    } && shift 2 ;;
    layer) "$mount" -t overlay -o "$2" autodev "$3" && shift 3 ;;
    hide) if [ -d "$2" ]; then "$mount" -t tmpfs -o ro,size=4k autodev "$2"
      else "$mount" -c --bind /dev/null "$2"; fi && shift 2 ;;
    open) exec 5<"$2" && hidden=$2 &&
      "$mount" -t tmpfs -o mode=755,size=64k autodev "$2" && shift 2 ;;
    keep) { "$mount" -c --bind -o ro,X-mount.mkdir "/proc/self/fd/5/$2" "$hidden/$2" 2>/dev/null ||
      "$mount" -c --bind -o X-mount.mkdir "/proc/self/fd/5/$2" "$hidden/$2"; } && shift 2 ;;
    close) exec 5<&- && "$mount" -c -o remount,bind,ro "$hidden" && shift ;;
    ro|rw) tries=0
      until bound "$1" "$2" 2>/dev/null || [ "$((tries += 1))" -gt 4 ]; do :; done
      shift 2 ;;
  esac || exit 126
done
cd "$2" || exit 126
unset OLDPWD
shift 2
`;

export interface Arranged {
  readonly launcher: readonly string[];
  /** Goes in front of the command, in the first process. */
  readonly script: string;
  readonly orders: readonly string[];
  readonly asOurselves: readonly string[];
  /** One file that is replaced meanwhile is enough for it not to begin: it is worth trying again. */
  readonly fickle?: true;
}

/** Undefined: this machine gives us no mounts; the command would see everything. */
export async function arranged(sight: Sight, cwd: string): Promise<Arranged | undefined> {
  const arranger = await arrangerFor(sight);
  return arranger?.arrange(sight, cwd);
}

/** Somebody who can do it, on this machine. */
interface Arranger {
  readonly by: Means;
  arrange(sight: Sight, cwd: string): Arranged;
}

interface Mounter extends Pick<Arranged, "launcher" | "asOurselves"> {
  readonly mount: string;
  readonly userSpace: boolean;
}

function withOrders(
  mounter: Mounter,
  { hide, keep, layer, access = [], network }: Sight,
  cwd: string,
): Arranged {
  const { launcher, asOurselves, mount, userSpace } = mounter;
  const orders = [
    ...(network === "off" ? ["net", found("ip", `${process.env.PATH}:/usr/sbin:/sbin`) ?? ""] : []),
    ...(layer ? ["layer", overlayOptions(layer, userSpace), layer.folder] : []),
    ...outermost(hide).flatMap((folder) => ordersToHide(folder, keep)),
    ...access.flatMap(({ path: place, writable, hidden }) => [
      hidden ? "hide" : writable ? "rw" : "ro",
      place,
    ]),
  ];
  // Whoever may mount could open again what is closed; in a namespace of users nobody may.
  const isClosed = access.length > 0 || network === "off";
  const unable = isClosed && !userSpace ? withoutMounts(launcher) : [];
  const [apart, command] = [launcher.slice(0, -1), launcher.slice(-1)];
  return {
    launcher: network === "off" ? [...apart, "--net", ...command] : launcher,
    asOurselves: [...asOurselves, ...unable],
    script: arrange,
    orders: [mount, ...orders, "--", cwd],
  };
}

const outermost = (folders: readonly string[]): string[] =>
  folders.filter((each) => !folders.some((other) => isBelow(each, other)));

const withoutMounts = ([setpriv = "setpriv"]: readonly string[]): string[] => [
  setpriv,
  "--bounding-set=-sys_admin",
  "--inh-caps=-sys_admin",
  "--",
];

function ordersToHide(folder: string, keep: readonly string[]): string[] {
  const kept = keep.filter((each) => isBelow(each, folder));
  if (kept.length === 0) return ["hide", folder];
  const places = kept.flatMap((each) => ["keep", path.relative(folder, each)]);
  return ["open", folder, ...places, "close"];
}

const isBelow = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);

/** Whatever a distribution has switched on: what is below may be shared by several at once. */
const overlayOptions = ({ folder, below, work }: Layer, userSpace: boolean): string =>
  [
    ...(userSpace ? ["userxattr"] : []),
    "index=off",
    `lowerdir=${below}`,
    `upperdir=${folder}`,
    `workdir=${work}`,
  ].join(",");

/** Whether `hide` hides anything on this machine. */
export const canHide = async (): Promise<boolean> => (await enclosedBy()) !== undefined;

/** By what a command can be kept from places, and from the network; undefined: by nothing. */
export const enclosedBy = async (wanted: Pick<Sight, "network"> = {}): Promise<Means | undefined> =>
  (await arrangerFor({ hide: [], keep: [], layer: undefined, ...wanted }))?.by;

async function arrangerFor({ layer, network }: Sight): Promise<Arranger | undefined> {
  for (const means of meansAllowed()) {
    // Not every bubblewrap can lay one folder over another.
    if (layer && means === "bubblewrap") continue;
    const arranger = await arrangers[means]();
    if (arranger && (network !== "off" || (await separators[means]()))) return arranger;
  }
  return undefined;
}

const arrangers: Readonly<Record<Means, () => Promise<Arranger | undefined>>> = {
  namespaces: once(async () => {
    const launcher = await launcherBy("namespaces");
    const mount = found("mount", process.env.PATH ?? "");
    if (!launcher || mount === undefined) return undefined;
    const mounter = { ...asMounter(launcher), mount };
    return hiding({ by: "namespaces", arrange: (sight, cwd) => withOrders(mounter, sight, cwd) });
  }),
  bubblewrap: once(async () => {
    const [launcher, bwrap] = [await launcherBy("bubblewrap"), bubblewrap()];
    if (!launcher || bwrap === undefined) return undefined;
    return hiding({
      by: "bubblewrap",
      arrange: (sight, cwd) => ({
        launcher: wrapped(bwrap, { ...sight, hide: outermost(sight.hide) }, cwd),
        script: "",
        orders: [],
        asOurselves: [],
        fickle: true,
      }),
    });
  }),
};

/** Itself, if it can: of a folder that every Linux has, all is hidden but for another in it. */
async function hiding(arranger: Arranger): Promise<Arranger | undefined> {
  const sight = { hide: ["/proc/sys"], keep: ["/proc/sys/kernel"], layer: undefined };
  const looks = "test -e /proc/sys/kernel/ostype && test ! -e /proc/sys/fs";
  const hides = await works(arranger.arrange(sight, "/"), [shell, "-c", looks]);
  return hides ? arranger : undefined;
}

/** Whether the command is alone on its network, and its own addresses answer. */
const separates = (means: Means): (() => Promise<boolean>) =>
  once(async () => {
    const arranger = await arrangers[means]();
    const sight = { hide: [], keep: [], layer: undefined, network: "off" } as const;
    return arranger !== undefined && works(arranger.arrange(sight, "/"), [shell, "-c", looksAlone]);
  });

const looksAlone = `up=1
while read -r line; do case $line in *127.0.0.1*) up=0 ;; esac; done </proc/net/fib_trie
while read -r name _; do
  case $name in lo:* | Inter-* | face*) ;; *) exit 1 ;; esac
done </proc/net/dev
exit $up`;

const separators: Readonly<Record<Means, () => Promise<boolean>>> = {
  namespaces: separates("namespaces"),
  bubblewrap: separates("bubblewrap"),
};

function asMounter(launcher: Launcher): Omit<Mounter, "mount"> {
  const { before, user, after } = launcher;
  if (user.length === 0)
    return { launcher: [...before, ...after], asOurselves: [], userSpace: false };
  const ids = [`--map-user=${process.geteuid?.()}`, `--map-group=${process.getegid?.()}`];
  const unshare = before.at(-1) ?? "unshare";
  return {
    launcher: [...before, "--user", "--map-root-user", ...after],
    asOurselves: [unshare, "--user", ...ids, "--"],
    userSpace: true,
  };
}

/**
 * Whether layers work in this very place: it depends on its file system, and on the users and
 * groups that our namespace knows.
 */
export async function canLayer(place: string): Promise<boolean> {
  const arranger = meansAllowed().includes("namespaces") && (await arrangers.namespaces());
  // The kernel reads these as separators.
  if (!arranger || /[,:\\"\n]/.test(place)) return false;
  const scratch = fs.mkdtempSync(path.join(place, "layer-"));
  try {
    const [folder, below, work] = ["folder", "below", "work"].map((name) => {
      const made = path.join(scratch, name);
      fs.mkdirSync(made);
      return made;
    }) as [string, string, string];
    fs.mkdirSync(path.join(below, "in"));
    fs.writeFileSync(path.join(below, "in", "old"), "old");
    const sight = { hide: [], keep: [], layer: { folder, below, work } };
    const acts = "echo new >in/old && rm -r in && mkdir in && echo new >in/new && test ! -e in/old";
    const ended = await works(arranger.arrange(sight, folder), [shell, "-c", acts]);
    return ended && fs.existsSync(path.join(folder, "in", "new"));
  } finally {
    // The kernel closes it even to its owner.
    const closed = path.join(scratch, "work", "work");
    if (fs.existsSync(closed)) fs.chmodSync(closed, 0o700);
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** Kernels, containers and profiles differ: whether it works is found out by doing it. */
function works(how: Arranged, command: readonly string[]): Promise<boolean> {
  const [program = "", ...args] = [...how.launcher, ...inFirstProcess(command, how)];
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: "/",
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      timeout: 5000,
      killSignal: "SIGKILL",
    });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => {
      for (const stream of child.stdio) stream?.destroy();
      resolve(code === 0);
    });
  });
}
