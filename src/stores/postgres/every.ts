/**
 * Again and again, one at a time: a database that is away is waited for, and whoever began another
 * each second meanwhile would have thousands of them when it is back.
 */
export function every(ms: number, act: () => Promise<unknown>): { end(): void } {
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const again = (): void => {
    timer = setTimeout(() => {
      // What goes wrong once is tried again; whoever has to know of it catches it himself.
      void act()
        .catch(() => {})
        .then(() => {
          if (!over) again();
        });
    }, ms).unref();
  };
  again();
  return {
    end() {
      over = true;
      clearTimeout(timer);
    },
  };
}
