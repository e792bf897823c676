import { answer, type Scene } from '../corpus/planted.ts'

/** Dates, and words for dates. Today is Tuesday, 30 June 2026, in UTC. */
export const dates: readonly Scene[] = [
  {
    docs: {
      march: { text: 'The basalt export is empty.', at: '2026-03-12T09:30:00Z' },
      evening: answer('The basalt export had no rows on that day.', { at: '2026-03-12T23:58:00Z' }),
      next: { text: 'The basalt export is full again.', at: '2026-03-13T00:01:00Z' },
      before: { text: 'The basalt export is new.', at: '2026-03-11T23:59:00Z' },
    },
    asks: [
      { q: 'basalt export on:2026-03-12', want: 'march evening', never: 'next before' },
      { q: 'basalt export before:2026-03-12', want: 'before', never: 'march evening next' },
      { q: 'basalt export after:2026-03-13', want: 'next', never: 'march evening before' },
      { q: 'basalt export after:2026-03-12 before:2026-03-13', want: 'march evening', never: 'next before' },
    ],
  },
  {
    docs: {
      yesterday: { text: 'The gneiss probe restarts.', at: '2026-06-29T14:00:00Z' },
      today: { text: 'The gneiss probe restarts again.', at: '2026-06-30T08:00:00Z' },
      lastWeek: { text: 'The gneiss probe is stable.', at: '2026-06-24T10:00:00Z' },
      lastYear: { text: 'The gneiss probe is built.', at: '2025-06-29T14:00:00Z' },
    },
    asks: [
      { q: 'gneiss probe on:yesterday', want: 'yesterday', never: 'today lastWeek lastYear' },
      { q: 'gneiss probe after:7d', want: 'yesterday today lastWeek', never: 'lastYear' },
      { q: 'gneiss probe before:2026-01', want: 'lastYear', never: 'yesterday today lastWeek' },
    ],
  },
  {
    docs: {
      february: { text: 'The schist index is rebuilt.', at: '2026-02-14T12:00:00Z' },
      lastOfMonth: answer('The schist index was rebuilt twice.', { at: '2026-02-28T22:00:00Z' }),
      march: { text: 'The schist index is dropped.', at: '2026-03-01T00:30:00Z' },
      january: { text: 'The schist index is planned.', at: '2026-01-31T23:30:00Z' },
    },
    asks: [
      { q: 'schist index on:2026-02', want: 'february lastOfMonth', never: 'march january' },
      { q: 'schist index before:2026-02', want: 'january', never: 'february lastOfMonth march' },
      { q: 'schist index after:2026-03', want: 'march', never: 'february lastOfMonth january' },
    ],
  },
  {
    docs: {
      recent: { text: 'The marl fixture is flaky.', at: '2026-06-28T09:00:00Z' },
      old: { text: 'The marl fixture is stable.', at: '2026-05-02T09:00:00Z' },
      older: { text: 'The marl fixture is new.', at: '2024-09-02T09:00:00Z' },
    },
    asks: [
      { q: 'marl fixture after:3d', want: 'recent', never: 'old older' },
      { q: 'marl fixture on:2024-09', want: 'older', never: 'recent old' },
      { q: 'marl fixture after:2026-05-01 before:2026-06-01', want: 'old', never: 'recent older' },
    ],
  },
]
