/** Icons, as lines on a grid of 16 by 16. */
export const SHAPES = {
  plug: 'M6 2v4M10 2v4M4 6h8v2a4 4 0 0 1-8 0zM8 12v2.5',
  list: 'M2.5 4l1 1 2-2M2.5 9l1 1 2-2M8 4h6M8 9h6M8 13h6M3 13h1',
  agent: 'M3 6h10v7H3zM8 6V3M6.5 9v1M9.5 9v1',
  check: 'M8 1.8A6.2 6.2 0 1 1 8 14.2 6.2 6.2 0 1 1 8 1.8zM5.5 8l2 2 3.2-4',
  terminal: 'M2.5 4l4 4-4 4M8.5 12.5h5',
  minus: 'M8 1.8A6.2 6.2 0 1 1 8 14.2 6.2 6.2 0 1 1 8 1.8zM5 8h6',
  pen: 'M2.5 13.5l.8-3.3 7.6-7.6 2.5 2.5-7.6 7.6zM9.5 4l2.5 2.5',
  globe: 'M8 1.8A6.2 6.2 0 1 1 8 14.2 6.2 6.2 0 1 1 8 1.8zM2 8h12M8 2c4 4 4 8 0 12M8 2C4 6 4 10 8 14',
  folder: 'M2 12.5V3.5h4l1.5 2H14v7z',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 1 1 0-9zM10.4 10.4l3.4 3.4',
  file: 'M4 1.8h5l3 3v9.4H4zM9 1.8v3h3',
  tool: 'M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 1 1 0-5.6zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2',
  thought: 'M8 2a4.2 4.2 0 0 1 2 7.9V12H6V9.9A4.2 4.2 0 0 1 8 2zM6.5 14.2h3',
} as const

export type IconName = keyof typeof SHAPES
