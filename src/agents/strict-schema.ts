/**
 * Some models only answer by a schema in which every object is closed and every field required.
 * A schema of ours becomes one like that, and an answer by it becomes one by ours again:
 *
 *  - a field that may be absent may be null instead, and null says that it is absent;
 *  - an object with any keys at all is a list of keys and values;
 *  - what else a schema can demand (least values, patterns, defaults) is left out: whatever the
 *    answer is, it is looked at again.
 */
import { type Fields, fieldsOf } from "./json-line.ts";

export function strictSchema(schema: unknown): unknown {
  const given = fieldsOf(schema) ?? {};
  const kept = Object.entries(given).filter(([key]) => passedOn.has(key));
  const { anyOf, items } = given;
  const any = anyOf === undefined ? {} : { anyOf: asList(anyOf).map(strictSchema) };
  if (!isObject(given)) {
    return {
      ...Object.fromEntries(kept),
      ...any,
      ...(items === undefined ? {} : { items: strictSchema(items) }),
    };
  }
  if (isRecord(given)) {
    const { description } = given;
    return {
      type: "array",
      ...(description === undefined ? {} : { description }),
      items: closed({ key: { type: "string" }, value: strictSchema(given.additionalProperties) }),
    };
  }
  const fields = Object.entries(fieldsOf(given.properties) ?? {}).map(([name, field]) => {
    const strict = strictSchema(field);
    const isAlways = isRequired(given, name) || allowsNull(field);
    return [name, isAlways ? strict : { anyOf: [strict, { type: "null" }] }];
  });
  return { ...Object.fromEntries(kept), ...closed(Object.fromEntries(fields)) };
}

/** What a schema may say beside its shape, in every such model. */
const passedOn: ReadonlySet<string> = new Set(["type", "enum", "const", "description"]);

const closed = (properties: Fields): Fields => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** An answer by the strict schema, as `schema` has it; what fits neither is left as it is. */
export function fromStrict(schema: unknown, answer: unknown): unknown {
  const given = fieldsOf(schema) ?? {};
  if (given.anyOf !== undefined && answer !== null) {
    const meant = asList(given.anyOf).find((each) => isOfKind(each, answer));
    return meant === undefined ? answer : fromStrict(meant, answer);
  }
  if (Array.isArray(answer)) {
    return isRecord(given)
      ? fromPairs(given, answer)
      : answer.map((each: unknown) => fromStrict(given.items, each));
  }
  const fields = fieldsOf(answer);
  if (!fields || !isObject(given) || isRecord(given)) return answer;
  const properties = fieldsOf(given.properties) ?? {};
  return Object.fromEntries(
    Object.entries(fields)
      .filter(
        ([name, value]) =>
          value !== null || isRequired(given, name) || allowsNull(fieldOf(properties, name)),
      )
      .map(([name, value]) => [name, fromStrict(fieldOf(properties, name), value)]),
  );
}

function fromPairs(schema: Fields, pairs: readonly unknown[]): unknown {
  const entries = pairs.map((each) => {
    const { key, value } = fieldsOf(each) ?? {};
    return [key, fromStrict(schema.additionalProperties, value)] as const;
  });
  const isWhole = entries.every(([key]) => typeof key === "string");
  return isWhole ? Object.fromEntries(entries) : pairs;
}

const fieldOf = (properties: Fields, name: string): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isObject = (schema: Fields): boolean =>
  schema.type === "object" || (schema.type === undefined && schema.properties !== undefined);

const isRecord = (schema: Fields): boolean =>
  isObject(schema) &&
  schema.properties === undefined &&
  fieldsOf(schema.additionalProperties) !== undefined;

const isRequired = (schema: Fields, name: string): boolean =>
  asList(schema.required).includes(name);

function allowsNull(schema: unknown): boolean {
  const given = fieldsOf(schema) ?? {};
  return (
    given.type === "null" ||
    asList(given.type).includes("null") ||
    asList(given.enum).includes(null) ||
    asList(given.anyOf).some(allowsNull)
  );
}

function isOfKind(schema: unknown, answer: unknown): boolean {
  const given = fieldsOf(schema) ?? {};
  const kind = Array.isArray(answer) ? "array" : answer === null ? "null" : typeof answer;
  const kinds = Array.isArray(given.type) ? given.type : [given.type];
  return (
    kinds.includes(kind) ||
    (kind === "number" && kinds.includes("integer")) ||
    (kind === "array" && isRecord(given))
  );
}
