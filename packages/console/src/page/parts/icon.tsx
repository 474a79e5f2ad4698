const paths = {
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 8c.6-3.4 3.4-5.5 7-5.5s6.4 2.1 7 5.5",
  password: "M15.5 12.5a4 4 0 1 0-3.6-2.2L4 18.2V21h3v-2h2v-2h2l1.9-1.9c.8.5 1.7.4 2.6-2.6ZM16.5 7.5h.01",
  code: "M12 21a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-12v4l2.5 2M9 2.5h6",
  into: "M12 4v10m-4-4l4 4 4-4M4 15v5h16v-5",
  todo: "M4 6.500l1.500 1.500L8 5M4 16.500l1.500 1.500L8 15M12 6.500h8M12 16.500h8",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  plus: "M12 5v14M5 12h14",
  back: "M15 5l-7 7 7 7",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm5-1.5L20 20",
  help: "M9.5 9a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M12 16.5h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  out: "M14 4h5v16h-5M4 12h10m-3.5-3.5L14 12l-3.5 3.5",
  audit: "M5 4h14v16H5zM8.5 8.500h7M8.500 12h7M8.500 15.500h4",
  people:
    "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm-6 8c.5-3.200 3-5 6-5s5.500 1.800 6 5M16 11a3 3 0 1 0-1.500-5.600M17.500 14c2 .6 3.300 2.300 3.500 5",
  folder: "M4 6h6l2 2.500h8V19H4z",
  travel:
    "M10 14l-6-2 1-2 6 1 4-5c1-1.200 3-1.500 3.500-1s.2 2.500-1 3.500l-5 4 1 6-2 1-2-6-3 2.500V19l-2-1-1-2 1.500-.2z",
} as const;

export type IconName = keyof typeof paths;

/** A line drawing beside a name, or on a button that has one. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
