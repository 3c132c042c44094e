/** One of a few ways to look at the same thing, side by side. */
export interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [NoInfer<T>, string])[];
  onChoose(value: NoInfer<T>): void;
}

export const Choice = <T extends string>({ label, value, options, onChoose }: ChoiceProps<T>) => (
  <div class="run-choice" role="group" aria-label={label}>
    {options.map(([each, word]) => (
      <button key={each} type="button" aria-pressed={each === value} onClick={() => onChoose(each)}>
        {word}
      </button>
    ))}
  </div>
);
