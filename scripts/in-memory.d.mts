export function inMemory(): string;
