import type { HubActs } from '../../src/api/answers/hub.ts'

/** Answers as a hub gives them, for tests of the HTTP side. `test/hub` has a real one. */
export const hubShapes: HubActs = {
  push: async () => ({ pushed: 3, removed: 0, unchanged: 12, bytes: 40_960, leftOut: [], notice: null }),
  pull: async () => ({ pulled: 5, removed: 1, unchanged: 30, bytes: 81_920 }),
  state: async () => ({
    url: 'postgres://ada@db.example/team',
    machine: 'laptop',
    atWork: null,
    lastPushAt: '2026-03-01T11:30:00.000Z',
    lastPullAt: '2026-03-01T11:30:00.000Z',
    purgesWaiting: 0,
    damaged: [{ machine: '3583dfc8ecc3d67e249b25030bb458b0', chats: 2 }],
    error: null,
    hub: {
      role: 'ada',
      waiting: 2,
      machines: [
        {
          uuid: '3583dfc8ecc3d67e249b25030bb458b0',
          name: 'laptop',
          user: 'ada',
          chats: 15,
          bytes: 122_880,
          pushedAt: '2026-03-01T11:30:00.000Z',
        },
      ],
      projects: [{ name: 'github.com/acme/shop', machines: 1, chats: 15, bytes: 122_880 }],
      grants: [{ role: 'ada', project: '*', push: true }],
    },
  }),
}
