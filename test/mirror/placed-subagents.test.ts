import { afterEach, expect, test } from 'vitest'
import { emptyBatch, type Batch, type ChatWrite } from '../../src/mirror/write/batch.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId } from '../../src/model/ids.ts'
import { noFacts } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
const STRONG = 10
const WEAK = 90
let opened: OpenMirror | undefined
afterEach(() => opened?.remove())

type Told = Pick<Batch, 'chats' | 'evidence'>

function told(
  id: string,
  parentId: string | null,
  roots: readonly (readonly [name: string, rank: number])[],
  childIds: readonly string[] = [],
): Told {
  const parentChatId = parentId === null ? null : asChatId(parentId)
  const facts = {
    ...noFacts,
    createdAtMs: T0,
    parentChatId,
    isSubagent: parentId !== null,
    childChatIds: childIds.map((each) => asChatId(each)),
  }
  const ownRow = { kind: 'read', facts, outline: [], embeddedIds: new Set<never>(), octets: 10 } as const
  const chat: ChatWrite = { id: asChatId(id), ownRow, messages: [], vanished: [] }
  const evidence = roots.map(([name, rank]) => {
    const root = { uri: `file:///w/${name}`, path: `/w/${name}`, name, remote: null }
    return { chatId: asChatId(id), method: `method-${rank}`, rank, root, isOnly: false }
  })
  return { chats: [chat], evidence }
}

/** A chat that lists others as its subagents. */
const linked = (id: string, childIds: readonly string[]): Told => told(id, null, [[id, STRONG]], childIds)

/** The projects of all chats after these writes, in the given order. */
function placesAfter(batches: readonly Told[]): Readonly<Record<string, unknown>> {
  opened?.remove()
  opened = new OpenMirror()
  const source = opened.source('store')
  for (const batch of batches) writeBatch(opened.db, { ...emptyBatch, source, nowMs: T0, ...batch })
  const sql = `select chats.id, projects.name || ' by ' || project_source as place from chats left join projects on projects.num = project`
  const rows = opened.db.prepare(sql).all() as { id: string; place: string | null }[]
  return Object.fromEntries(rows.map(({ id, place }) => [id, place]))
}

const inOne = (batches: readonly Told[]): Told => ({
  chats: batches.flatMap(({ chats }) => chats),
  evidence: batches.flatMap(({ evidence }) => evidence),
})

const orders = <Each>(all: readonly Each[]): Each[][] =>
  all.length < 2
    ? [[...all]]
    : all.flatMap((first, at) => orders(all.toSpliced(at, 1)).map((others) => [first, ...others]))

const families: readonly (readonly [name: string, told: readonly Told[], places: Readonly<Record<string, string>>])[] =
  [
    [
      'a subagent with a weak root',
      [told('parent', null, [['shop', STRONG]]), told('child', 'parent', [['garden', WEAK]])],
      { parent: 'shop by method-10', child: 'shop by parent' },
    ],
    [
      'a chain of subagents, each with a weak root',
      [told('a', null, [['shop', STRONG]]), told('b', 'a', [['garden', WEAK]]), told('c', 'b', [['house', WEAK]])],
      { a: 'shop by method-10', b: 'shop by parent', c: 'shop by parent' },
    ],
    [
      'a chain of subagents, one with a strong root',
      [told('a', null, [['garden', WEAK]]), told('b', 'a', [['shop', STRONG]]), told('c', 'b', [['garden', WEAK]])],
      { a: 'garden by method-90', b: 'shop by method-10', c: 'shop by parent' },
    ],
    [
      'a chat with two roots of the same rank',
      [told('chat', null, [['shop', STRONG]]), told('chat', null, [['garden', STRONG]])],
      { chat: 'shop by method-10' },
    ],
    [
      'a chat with two parents',
      [linked('one', ['child']), linked('two', ['child']), told('child', null, [['garden', WEAK]])],
      { one: 'one by method-10', two: 'two by method-10', child: 'one by parent' },
    ],
    [
      'a chat with two parents that names one of them',
      [linked('one', ['child']), linked('two', ['child']), told('child', 'two', [['garden', WEAK]])],
      { one: 'one by method-10', two: 'two by method-10', child: 'two by parent' },
    ],
  ]

test.each(families)('%s gets the same project for any order of writing', (_, batches, places) => {
  for (const order of orders(batches)) {
    expect(placesAfter(order)).toEqual(places)
    expect(placesAfter([inOne(order)])).toEqual(places)
  }
})

test('chats that are parents of each other in a circle are placed, and the placement ends', () => {
  const circle = [
    told('a', 'c', [['shop', WEAK]]),
    told('b', 'a', [['garden', WEAK]]),
    told('c', 'b', [['house', WEAK]]),
  ]
  for (const order of orders(circle)) {
    for (const batches of [order, [inOne(order)]]) {
      const places = Object.values(placesAfter(batches))
      expect(new Set(places.map((place) => String(place).split(' ')[0])).size).toBe(1)
    }
  }
})
