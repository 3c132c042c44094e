/** A component that is left alone as long as its properties look the same: five hundred of them tick for free. */
import { Component, type ComponentChild, type ComponentType } from "preact";

export function still<P extends object>(
  looksTheSame: (one: P, other: P) => boolean,
  draw: (props: P) => ComponentChild,
): ComponentType<P> {
  return class Still extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return !looksTheSame(this.props as P, next);
    }
    override render(): ComponentChild {
      return draw(this.props as P);
    }
  };
}
