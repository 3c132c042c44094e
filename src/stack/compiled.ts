/** Go, Rust, Java and Kotlin, C#, C and C++: their tools come with the language or its build. */
import type { Kind, Tool } from "./kind.ts";

/** Prints what is not formatted, and fails then: `gofmt -l` by itself always succeeds. */
const failingList = (list: string): string => `out="$(${list})" && echo "$out" && test -z "$out"`;

export const go: Kind = {
  name: "go",
  marks: ["go.mod", "go.work"],
  languages: [{ name: "go", files: ["go.mod", "go.work"] }],
  frameworks: [
    { name: "gin", mentions: [["**/go.mod", /gin-gonic\/gin\b/]] },
    { name: "echo", mentions: [["**/go.mod", /labstack\/echo\b/]] },
    { name: "fiber", mentions: [["**/go.mod", /gofiber\/fiber\b/]] },
    { name: "chi", mentions: [["**/go.mod", /go-chi\/chi\b/]] },
  ],
  packagers: [
    {
      name: "go",
      always: "it comes with go",
      folders: [],
      keyFiles: ["go.mod", "go.sum", "go.work"],
      programs: ["go"],
    },
  ],
  tools: [
    {
      name: "golangci-lint",
      files: [".golangci.*"],
      started: /\bgolangci-lint\b/,
      calls: { lint: "golangci-lint run" },
    },
    // In a workspace, `./...` at the top is no module.
    ...modules(["go.work"], '$(go list -f "{{.Dir}}/..." -m)'),
    ...modules(undefined, "./..."),
    {
      name: "gofmt",
      files: ["vendor/modules.txt"],
      calls: {
        format: failingList("find . -name '*.go' -not -path './vendor/*' -exec gofmt -l {} +"),
      },
    },
    { name: "gofmt", always: "it comes with go", calls: { format: failingList("gofmt -l .") } },
  ],
};

/** Without what an earlier run remembers: a result from a cache is not a fresh one. */
function modules(files: readonly string[] | undefined, all: string): Tool[] {
  const sign = files ? { files } : { always: "it comes with go" };
  return [
    { name: "go vet", ...sign, calls: { lint: `go vet ${all}` } },
    { name: "go build", ...sign, calls: { typecheck: `go build ${all}` } },
    {
      name: "go test",
      ...sign,
      started: /\bgo test\b/,
      calls: { test: `go test -count=1 ${all}` },
    },
  ];
}

const workspace = { mentions: [["Cargo.toml", /^\[workspace\]/m]] } as const;

export const rust: Kind = {
  name: "rust",
  marks: ["Cargo.toml"],
  languages: [{ name: "rust", files: ["Cargo.toml"] }],
  frameworks: [
    { name: "axum", mentions: [["**/Cargo.toml", /^axum\b/m]] },
    { name: "actix-web", mentions: [["**/Cargo.toml", /^actix-web\b/m]] },
    { name: "rocket", mentions: [["**/Cargo.toml", /^rocket\b/m]] },
    { name: "tauri", mentions: [["**/Cargo.toml", /^tauri\b/m]] },
  ],
  packagers: [
    {
      name: "cargo",
      always: "it comes with rust",
      folders: [],
      keyFiles: ["Cargo.lock", "Cargo.toml", "rust-toolchain", "rust-toolchain.toml"],
      programs: ["cargo", "rustc"],
    },
  ],
  tools: [
    { name: "clippy", ...workspace, calls: { lint: "cargo clippy --workspace -- -D warnings" } },
    {
      name: "clippy",
      always: "it comes with cargo",
      calls: { lint: "cargo clippy -- -D warnings" },
    },
    { name: "rustfmt", ...workspace, calls: { format: "cargo fmt --all --check" } },
    { name: "rustfmt", always: "it comes with cargo", calls: { format: "cargo fmt --check" } },
    {
      name: "cargo check",
      ...workspace,
      calls: { typecheck: "cargo check --workspace --all-targets" },
    },
    {
      name: "cargo check",
      always: "it comes with cargo",
      calls: { typecheck: "cargo check --all-targets" },
    },
    {
      name: "nextest",
      files: [".config/nextest.toml"],
      started: /\bnextest\b/,
      calls: { test: "cargo nextest run" },
    },
    {
      name: "cargo test",
      ...workspace,
      started: /\bcargo test\b/,
      calls: { test: "cargo test --workspace" },
    },
    { name: "cargo test", always: "it comes with cargo", calls: { test: "cargo test" } },
  ],
};

const builds = "{,*/}{build.gradle,build.gradle.kts}";
const poms = "{,*/}pom.xml";

export const jvm: Kind = {
  name: "java",
  marks: ["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
  languages: [
    {
      name: "kotlin",
      files: ["**/src/main/kotlin/**/*.kt", "src/**/*.kt"],
      mentions: [[builds, /kotlin\(|org\.jetbrains\.kotlin/]],
    },
    { name: "java", always: "the build is one of Java's" },
  ],
  frameworks: [
    {
      name: "spring",
      mentions: [
        [`{pom.xml,build.gradle,build.gradle.kts}`, /springframework/],
        [poms, /springframework/],
        [builds, /springframework/],
      ],
    },
    {
      name: "quarkus",
      mentions: [
        [poms, /io\.quarkus/],
        [builds, /io\.quarkus/],
      ],
    },
    {
      name: "micronaut",
      mentions: [
        [poms, /io\.micronaut/],
        [builds, /io\.micronaut/],
      ],
    },
  ],
  packagers: [
    {
      name: "maven",
      files: ["pom.xml"],
      folders: [],
      keyFiles: ["pom.xml", ".mvn/maven.config"],
      programs: ["java", "mvn"],
    },
    {
      name: "gradle",
      files: ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
      folders: [],
      keyFiles: ["build.gradle", "build.gradle.kts", "gradle.lockfile"],
      programs: ["java", "gradle"],
    },
  ],
  tools: [
    {
      name: "checkstyle",
      mentions: [[poms, /maven-checkstyle-plugin/]],
      calls: { lint: "mvn -B checkstyle:check" },
    },
    {
      name: "spotless",
      mentions: [[poms, /spotless-maven-plugin/]],
      calls: { format: "mvn -B spotless:check" },
    },
    { name: "ktlint", mentions: [[builds, /ktlint/]], calls: { lint: "gradle ktlintCheck" } },
    { name: "detekt", mentions: [[builds, /detekt/]], calls: { lint: "gradle detekt" } },
    {
      name: "checkstyle",
      mentions: [[builds, /["'`\s(]checkstyle["'`\s)]/]],
      calls: { lint: "gradle checkstyleMain checkstyleTest" },
    },
    {
      name: "spotless",
      mentions: [[builds, /diffplug\.spotless/]],
      calls: { format: "gradle spotlessCheck" },
    },
    { name: "javac", files: ["pom.xml"], calls: { typecheck: "mvn -B test-compile" } },
    { name: "javac", always: "it comes with gradle", calls: { typecheck: "gradle testClasses" } },
    { name: "testng", mentions: [[poms, /<artifactId>testng</]], calls: { test: "mvn -B test" } },
    { name: "junit", files: ["pom.xml"], started: /\bmvn/, calls: { test: "mvn -B test" } },
    {
      name: "junit",
      always: "it comes with gradle",
      started: /\bgradle/,
      calls: { test: "gradle test" },
    },
  ],
  /** The wrapper is the project's own choice of a version. A daemon would outlive the gate. */
  call(tree, _, call) {
    if (call.startsWith("mvn ")) return tree.has("mvnw") ? `./mvnw ${call.slice(4)}` : call;
    const program = tree.has("gradlew") ? "./gradlew" : "gradle";
    return call.replace(/^gradle /, `${program} --no-daemon `);
  },
};

export const dotnet: Kind = {
  name: "csharp",
  marks: ["*.sln", "*.slnx", "{,*/,*/*/}*.{csproj,fsproj}", "global.json"],
  languages: [
    { name: "csharp", files: ["**/*.csproj", "**/*.cs"] },
    { name: "fsharp", files: ["**/*.fsproj"] },
    { name: "csharp", always: "a solution is there" },
  ],
  frameworks: [
    {
      name: "aspnet",
      mentions: [["**/*.csproj", /Microsoft\.NET\.Sdk\.Web|Microsoft\.AspNetCore/]],
    },
  ],
  packagers: [
    {
      name: "nuget",
      always: "it comes with dotnet",
      setup: "dotnet restore",
      folders: [],
      keyFiles: [
        "global.json",
        "nuget.config",
        "NuGet.config",
        "Directory.Packages.props",
        "Directory.Build.props",
        "**/packages.lock.json",
        "**/*.csproj",
        "**/*.fsproj",
        "*.sln",
      ],
      programs: ["dotnet"],
    },
  ],
  tools: [
    {
      name: "dotnet format",
      always: "it comes with dotnet",
      calls: { format: "dotnet format --verify-no-changes" },
    },
    { name: "dotnet build", always: "it comes with dotnet", calls: { typecheck: "dotnet build" } },
    { name: "xunit", mentions: [["**/*.csproj", /"xunit/i]], calls: { test: "dotnet test" } },
    { name: "nunit", mentions: [["**/*.csproj", /"NUnit/i]], calls: { test: "dotnet test" } },
    { name: "mstest", mentions: [["**/*.csproj", /"MSTest/i]], calls: { test: "dotnet test" } },
  ],
  install: (tree, { keyFiles, programs }) => ({
    setup: {
      text: "dotnet restore",
      why: "a project of .NET is there",
      file: tree.like("**/*.{csproj,fsproj}")[0] ?? "",
    },
    // What a restore leaves in the checkout; the packages themselves lie in the user's home.
    folders: tree.like("**/*.{csproj,fsproj}").map((file) => file.replace(/[^/]+$/, "obj")),
    keyFiles: keyFiles.flatMap((each) => (each.includes("*") ? tree.like(each) : [each])),
    programs,
  }),
};

const sources = "{,*/,*/*/,*/*/*/}*.{c,h,cc,cpp,cxx,hpp}";

export const c: Kind = {
  name: "c",
  marks: ["CMakeLists.txt", "meson.build", "configure.ac", "{,src/}*.{c,cc,cpp,cxx}"],
  languages: [
    { name: "cpp", files: ["**/*.{cc,cpp,cxx,hpp}"] },
    { name: "c", always: "files of C" },
  ],
  packagers: [],
  tools: [
    {
      name: "ctest",
      mentions: [
        [
          "{,*/,*/*/}CMakeLists.txt",
          /\b(?:enable_testing|add_test|\w+_discover_tests)\s*\(|\binclude\s*\(\s*CTest\b/i,
        ],
      ],
      needs: { files: ["CMakeLists.txt"] },
      started: /\bctest\b/,
      calls: {
        test: "cmake -S . -B {build} && cmake --build {build} && ctest --test-dir {build} --output-on-failure",
      },
    },
    {
      name: "meson",
      mentions: [["{,*/,*/*/}meson.build", /\btest\s*\(/]],
      needs: { files: ["meson.build"] },
      started: /\bmeson test\b/,
      calls: { test: "meson setup {build} && meson test -C {build} --print-errorlogs" },
    },
    { name: "automake", files: ["configure"], calls: { test: "./configure && make check" } },
    {
      name: "automake",
      files: ["configure.ac"],
      calls: { test: "autoreconf -i && ./configure && make check" },
    },
    {
      name: "clang-format",
      files: [".clang-format"],
      needs: { files: [sources] },
      calls: {
        format: `find . \\( -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.cpp' -o -name '*.hpp' \\) -not -path './{build}/*' -exec clang-format --dry-run --Werror {} +`,
      },
    },
  ],
  // A folder of that name that the repository holds is not ours to build in.
  call: (tree, _, call) =>
    call.replaceAll("{build}", tree.hasFolder("build") ? "build-gates" : "build"),
};
