import type { LiveState } from '../../../../src/api/context.ts'

/** The state of a daemon with nothing to do. */
export const liveOf = (mirrorPath: string): LiveState => ({
  state: 'ready',
  reasons: [],
  uptimeMs: 5,
  progress: null,
  resources: { rssBytes: 1, cpuPercent: 2, longestReadMs: 3, bytesRead: 4 },
  lagMs: null,
  mirrorPath,
})
