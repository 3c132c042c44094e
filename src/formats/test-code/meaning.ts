/**
 * What the name of an assertion says, in any framework: `toBe`, `assertEquals`, `assert_eq`,
 * `isEqualTo` and `EXPECT_EQ` all say "equal".
 */
export type Meaning =
  | "equal"
  /** Equal to a part of it, or within bounds; also whatever we have never heard of. */
  | "part"
  | "true"
  | "false"
  | "truthy"
  | "falsy"
  | "null"
  | "present"
  | "kind"
  | "throws"
  | "called"
  | "empty"
  | "snapshot";

export interface Reading {
  readonly meaning: Meaning;
  readonly negated: boolean;
  /** It is a word of ours, not only one that looks like an assertion. */
  readonly known: boolean;
}

export function readName(name: string): Reading {
  const words = wordsOf(name);
  const negated = words.filter((word) => negations.has(word)).length % 2 === 1;
  const key = words.filter((word) => !negations.has(word) && !fillers.has(word)).join("");
  const meaning = meanings.find(([, pattern]) => pattern.test(key))?.[0];
  return { meaning: meaning ?? "part", negated, known: meaning !== undefined };
}

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);

const negations = new Set(["not", "no", "ne", "neq", "refute", "wont", "never", "without"]);

const fillers = new Set(
  "to be been is are was does do a an the has have had and which that it assert assertions expect should must require check verify ensure boost test debug of".split(
    " ",
  ),
);

const meanings: readonly (readonly [Meaning, RegExp])[] = [
  [
    "kind",
    /^(?:instanceof|instance|instances?of|type|typeof|kindof|kind|istype|assignable\w*|equaltypeof|subclass\w*|typeequalto|string|number|array|object|function|isa|callable|iterable)$/,
  ],
  ["called", /^(?:called|calledonce|invoked|received)$/],
  [
    "snapshot",
    /^(?:match)?(?:inline|file|image)?(?:thrown?error)?(?:matching)?(?:inline)?snapshot$|^snapshot$/,
  ],
  [
    "equal",
    /^(?:strict|strictly|deep|deeply|deepstrict|str|string|strcase|float|double|loose|almost|array|list|dict|set|json|tuple|sequence|multiline|count|iterable|contentsof|collection|lines|file|xml|object|point|value|slow|fuzzy|member)*(?:equals?|eq|eqls?|same|identical|equivalent|equality|samevalue|samevalues|equalvalues|items)(?:ignoring\w*|canonicalizing|withdelta|to|file|value)*$|^(?:|near|close|closeto|delta|within|approx|approximately|calledwith|lastcalledwith|nthcalledwith|calledexactlyoncewith|calledoncewith|calledtimes|callcount|returnedwith|text|strictsame|value|in_?delta|in_?epsilon|within_?abs)$/,
  ],
  [
    "present",
    /^(?:defined|exists?|present|indocument|document|some|okay|valid_result|success|attached|tobepresent|any|anything)$/,
  ],
  ["truthy", /^(?:truthy|ok)$/],
  ["falsy", /^(?:falsy|falsey)$/],
  ["true", /^true$/],
  ["false", /^false$/],
  ["null", /^(?:null|none|nil|undefined|nullish)$/],
  ["empty", /^(?:empty|zero)$/],
  [
    "throws",
    /^(?:throws?|throwing|thrown|throwerror|throwexception|thrownby|raises?|raiseerror|raisesexception|rejects?|rejected|panics?|throwsexactly|throwsany|throwsasync|throwsexception|anythrow|throwsas|throwswith|throwasync|exactlythrow|raisesregex|raisesregexp|throwswithmessage|exception|exceptionmessage|exceptionobject|thrownmessage|failswith|deprecated|warns|error|err|exceptions|failures?|succeeds?|fails)$/,
  ],
  [
    "part",
    /^(?:contains?|includes?|match|matches|regex|regexp|like|greater|less|gt|lt|ge|le|gte|lte|length|len|size|lengthof|count|members?|property|subset|superset|in|between|startswith|endswith|startwith|endwith|above|below|least|most|atleast|atmost|greaterthan\w*|lessthan\w*|greaterequal|lessequal|greaterorequal|lessorequal|nan|positive|negative|disabled|enabled|visible|checked|focus|focused|stringcontainsstring|arrayhaskey|haskey|key|keys|fileexists|contains?equal|matchobject|objectcontaining|arraycontaining|throwsnothing|elementsmatch|that|matcher|operator|predicate|kindof|respondto|change|by|wasthrown|containsonly|containsexactly\w*|isclosetoorequal|hassize|hasmessage\w*)$/,
  ],
];
