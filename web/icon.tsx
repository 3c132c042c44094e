/** The few pictures of the page's frame, drawn in a square of 16 with lines as thick as its text. */
const paths = {
  now: "M2 8.5h2.5l2-5 3 9 2-4H14",
  flow: "M3.5 6a2 2 0 1 1 0 4a2 2 0 1 1 0-4M12.5 6a2 2 0 1 1 0 4a2 2 0 1 1 0-4M5.5 8h5",
  run: "M3 3h3.5v3.5H3zM9.5 9.5H13V13H9.5zM9.5 3H13v3.5H9.5zM6.5 4.75h3M6.5 6l3.5 3.5",
  timeline: "M2.5 4h5M5.5 8h6M8.5 12h5M2.5 8h1M2.5 12h3",
  history: "M2.8 8a5.2 5.2 0 1 0 1.6-3.8M2.6 2.6v2.6h2.6M8 5v3.2l2.2 1.3",
  fleet: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  light:
    "M8 5.2a2.8 2.8 0 1 1 0 5.6a2.8 2.8 0 1 1 0-5.6M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  dark: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z",
  keys: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6",
  done: "M3.5 8.5l3 3 6-7",
  failed: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  skipped: "M4.5 8h7",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  first: "M4 3.5v9M12 3.5 7 8l5 4.5",
  back: "M10 3.5 5.5 8l4.5 4.5",
  on: "M6 3.5 10.5 8 6 12.5",
  last: "M12 3.5v9M4 3.5 9 8l-5 4.5",
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ is }: { is: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[is]} />
  </svg>
);
