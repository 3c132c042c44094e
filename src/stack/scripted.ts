/** Ruby and PHP. */
import type { Commands, Ground, Kind, Uses } from "./kind.ts";
import { objectIn, type Tree } from "./tree.ts";

export const ruby: Kind = {
  name: "ruby",
  marks: ["Gemfile", "*.gemspec", ".rspec", "spec/spec_helper.rb"],
  traces: ["Rakefile", "spec/**/*_spec.rb", "test/**/*_test.rb", "test/**/test_*.rb"],
  languages: [{ name: "ruby", always: "files of Ruby" }],
  frameworks: [
    { name: "rails", packages: ["rails"], files: ["bin/rails"] },
    { name: "sinatra", packages: ["sinatra"] },
    { name: "hanami", packages: ["hanami"] },
  ],
  packagers: [
    {
      name: "bundler",
      files: ["Gemfile.lock", "Gemfile"],
      setup: "bundle config set --local path vendor/bundle && bundle install",
      folders: ["vendor/bundle", ".bundle"],
      keyFiles: ["Gemfile", "Gemfile.lock", ".ruby-version", ".tool-versions", "*.gemspec"],
      programs: ["ruby", "bundle"],
    },
  ],
  tools: [
    {
      name: "rspec",
      packages: ["rspec", "rspec-rails"],
      files: [".rspec", "spec/spec_helper.rb", "spec/**/*_spec.rb"],
      started: /\brspec\b/,
      calls: { test: "rspec" },
    },
    {
      name: "minitest",
      files: ["bin/rails"],
      needs: { files: ["test/**/*_test.rb"] },
      calls: { test: "bin/rails test" },
    },
    {
      name: "minitest",
      mentions: [
        ["{Rakefile,rakefile}", /Rake::TestTask|Minitest::TestTask|\btask\s*[:(]?\s*:?test\b/],
      ],
      calls: { test: "rake test" },
    },
    {
      name: "minitest",
      files: ["test/**/*_test.rb", "test/**/test_*.rb"],
      calls: {
        test: `ruby -Ilib -Itest -e 'Dir["test/**/{*_test,test_*}.rb"].sort.each { |file| require "./" + file }'`,
      },
    },
    {
      name: "standard",
      packages: ["standard"],
      files: [".standard.yml"],
      calls: { lint: "standardrb" },
    },
    {
      name: "rubocop",
      packages: ["rubocop", "rubocop-rails", "rubocop-rspec"],
      files: [".rubocop.yml"],
      calls: { lint: "rubocop" },
    },
    {
      name: "sorbet",
      packages: ["sorbet"],
      files: ["sorbet/config"],
      calls: { typecheck: "srb tc" },
    },
    {
      name: "steep",
      packages: ["steep"],
      files: ["Steepfile"],
      calls: { typecheck: "steep check" },
    },
  ],
  uses: gems,
  call: (_, packager, call) =>
    packager && !call.startsWith("bin/") ? `bundle exec ${call}` : call,
};

function gems(tree: Tree): Uses {
  const found = new Map<string, Ground>();
  for (const file of ["Gemfile", ...tree.like("*.gemspec")]) {
    const said =
      /^\s*(?:gem|\w+\.add_(?:development_|runtime_)?dependency)[\s(]*["']([\w-]+)["']/gm;
    for (const [, name = ""] of (tree.text(file) ?? "").matchAll(said)) {
      if (!found.has(name)) found.set(name, { why: `named in ${file}`, file });
    }
  }
  return found;
}

const composer = "composer.json";

export const php: Kind = {
  name: "php",
  marks: [composer, "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"],
  languages: [{ name: "php", always: "files of PHP" }],
  frameworks: [
    { name: "laravel", packages: ["laravel/framework"], files: ["artisan"] },
    { name: "symfony", packages: ["symfony/framework-bundle"], files: ["bin/console"] },
    { name: "slim", packages: ["slim/slim"] },
  ],
  packagers: [
    {
      name: "composer",
      files: [composer],
      folders: ["vendor"],
      keyFiles: [composer, "composer.lock", "auth.json"],
      programs: ["php", "composer"],
    },
  ],
  tools: [
    { name: "pest", packages: ["pestphp/pest"], started: /\bpest\b/, calls: { test: "pest" } },
    {
      name: "phpunit",
      packages: ["phpunit/phpunit"],
      files: ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"],
      started: /\bphpunit\b/,
      calls: { test: "phpunit" },
    },
    {
      name: "php_codesniffer",
      packages: ["squizlabs/php_codesniffer"],
      files: ["phpcs.xml", "phpcs.xml.dist", ".phpcs.xml", ".phpcs.xml.dist"],
      started: /\bphpcs\b/,
      calls: { lint: "phpcs" },
    },
    {
      name: "pint",
      packages: ["laravel/pint"],
      started: /\bpint\b/,
      calls: { format: "pint --test" },
    },
    {
      name: "php-cs-fixer",
      packages: ["friendsofphp/php-cs-fixer"],
      files: [".php-cs-fixer.php", ".php-cs-fixer.dist.php"],
      started: /\bphp-cs-fixer\b/,
      calls: { format: "php-cs-fixer fix --dry-run --diff" },
    },
    {
      name: "phpstan",
      packages: ["phpstan/phpstan", "larastan/larastan"],
      files: ["phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"],
      started: /\bphpstan\b/,
      calls: { typecheck: "phpstan analyse" },
    },
    {
      name: "psalm",
      packages: ["vimeo/psalm"],
      files: ["psalm.xml", "psalm.xml.dist"],
      started: /\bpsalm\b/,
      calls: { typecheck: "psalm" },
    },
  ],
  uses(tree) {
    const found = new Map<string, Ground>();
    for (const group of ["require-dev", "require"]) {
      for (const name of Object.keys(objectIn(tree.json(composer), group))) {
        if (!found.has(name)) found.set(name, { why: `${group} of ${composer}`, file: composer });
      }
    }
    return found;
  },
  scripts(tree) {
    const offered = objectIn(tree.json(composer), "scripts");
    const commands: Commands = {};
    for (const [gate, names] of Object.entries(scriptNames)) {
      const name = names.find((each) => Object.hasOwn(offered, each));
      if (name === undefined) continue;
      const why = `scripts.${name} of ${composer}`;
      const starts = JSON.stringify(offered[name]);
      commands[gate as keyof typeof scriptNames] = {
        text: `composer run-script ${name}`,
        why,
        file: composer,
        starts,
      };
    }
    return commands;
  },
  call: (tree, packager, call) => (packager && needsComposer(tree) ? `vendor/bin/${call}` : call),
  install(tree, { folders, keyFiles, programs }) {
    const installed = { folders, keyFiles, programs };
    if (!needsComposer(tree)) return installed;
    const file = tree.has("composer.lock") ? "composer.lock" : composer;
    const text = "composer install --no-interaction --no-progress";
    return { ...installed, setup: { text, why: `${file} is there`, file } };
  },
};

/** Asking for a version of PHP is no package; an autoloader is made by installing, too. */
const needsComposer = (tree: Tree): boolean => {
  const json = tree.json(composer);
  const needed = [
    ...Object.keys(objectIn(json, "require")),
    ...Object.keys(objectIn(json, "require-dev")),
  ];
  return needed.some((name) => name.includes("/")) || json?.["autoload"] !== undefined;
};

const scriptNames = {
  lint: ["lint", "cs", "phpcs", "cs:check", "check-style", "lint:check"],
  format: ["format:check", "cs-check", "format-check", "check-format", "check-cs"],
  typecheck: ["typecheck", "types", "phpstan", "analyse", "analyze", "psalm", "stan", "test:types"],
  test: ["test", "tests", "phpunit", "test:unit", "unit", "pest"],
} as const;
