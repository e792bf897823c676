import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { usableZone } from '../../src/cli/local-time-zone.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { Workplace } from '../helpers/spawn-cursordex.ts'

test.each([
  ['Europe/Berlin', 60, 'Europe/Berlin'],
  ['Etc/Unknown', 0, 'UTC'],
  [undefined, 0, 'UTC'],
  [undefined, -180, 'Etc/GMT+3'],
  [undefined, 540, 'Etc/GMT-9'],
  ['GMT+02:00', -120, 'Etc/GMT+2'],
  [undefined, 330, 'UTC'],
  [undefined, 99 * 60, 'UTC'],
])('the zone that Node calls %j, %d minutes east, is %s', (name, minutesEast, zone) => {
  expect(usableZone(name, minutesEast)).toBe(zone)
})

describe('with a TZ that names no zone of the list', () => {
  let place: Workplace
  beforeEach(() => {
    place = new Workplace()
    fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
  })
  afterEach(() => place.remove())

  test.each(['', 'UTC0', 'UTC+3', 'GMT+2', 'utc', 'Nowhere/Land'])(
    'TZ=%j: chats are listed all the same',
    async (TZ) => {
      const { exitCode, stdout, stderr } = await place.run(['chats'], { env: { TZ } })
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(stdout).toContain('chat-0')
    },
  )
})
