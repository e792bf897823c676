import type { Chance } from './chance.ts'
import { edit, failed, grep, read, run, say, think, user } from './script.ts'
import type { ProjectKey, Thread } from './script.ts'

/** The next task of the running agent. No other chat contains its ticket. */
export function liveThread(number: number, chance: Chance): Thread {
  const template = [slowPage, retryUpload, renameField, nullPointer][number % 4] ?? slowPage
  return template(2000 + number, chance)
}

function slowPage(ticket: number, chance: Chance): Thread {
  const page = chance.pick(['OrderHistory', 'WishList', 'ReturnsForm', 'GiftCards'])
  const path = `src/pages/${page}.tsx`
  return {
    project: 'shop',
    title: `SHOP-${ticket}: ${page} loads twice`,
    mode: 'agent',
    steps: [
      user(`SHOP-${ticket}: ${page} asks the server twice when it opens. Find out why, please.`),
      think(
        `Two requests on opening: either StrictMode in development, or an effect whose dependency changes at once.`,
        2,
      ),
      grep('useEffect', `${path}:24:  useEffect(() => void load(filter), [filter])`),
      read(path, `const filter = { customer: user.id, limit: 20 }\nuseEffect(() => void load(filter), [filter])\n`),
      say(
        `\`filter\` is a new object on every render, so the effect runs again as soon as the first answer sets the state. It is no fault of StrictMode: the second request is there in production as well.`,
      ),
      edit(
        path,
        '-const filter = { customer: user.id, limit: 20 }',
        '+const filter = useMemo(() => ({ customer: user.id, limit: 20 }), [user.id])',
      ),
      run(`npx vitest run test/pages/${page}.test.tsx`, ` ✓ test/pages/${page}.test.tsx (6 tests) 48ms`),
      say(
        `SHOP-${ticket} is done: one request now, and a test that counts them. The same pattern stands in two other pages; say the word and I change those too.`,
      ),
    ],
  }
}

function retryUpload(ticket: number, chance: Chance): Thread {
  const kind = chance.pick(['photo', 'voice memo', 'sketch', 'PDF'])
  const path = 'src/sync/upload.ts'
  return {
    project: 'field-notes',
    title: `NOTES-${ticket}: resume the upload of a ${kind}`,
    mode: 'agent',
    steps: [
      user(
        `NOTES-${ticket}: when the network drops during the upload of a ${kind}, it starts again from zero. It should go on where it stopped.`,
      ),
      read(path, `await put(url, await readAll(file), { onProgress })\n`),
      think(
        `The server takes ranges (tus). We need the offset that it confirmed last, kept beside the queue entry.`,
        3,
      ),
      say(
        `The server speaks tus already, only the client sends everything in one request. I ask for the confirmed offset first and send the rest in pieces of 512 kB, each of which is confirmed before the next.`,
      ),
      edit(
        path,
        '-await put(url, await readAll(file), { onProgress })',
        '+let offset = await confirmedOffset(url)',
        '+for await (const piece of pieces(file, offset)) offset = await patch(url, piece, offset)',
      ),
      failed(
        run('npx vitest run src/sync/upload', `FAIL src/sync/upload.test.ts\n  expected 3 requests, got 4`),
        'Command failed with exit code 1',
      ),
      say(`One request too many: an empty piece at the end, for a file whose size is a multiple of 512 kB.`),
      edit(path, '+if (offset === file.size) return'),
      run('npx vitest run src/sync/upload', ` ✓ src/sync/upload.test.ts (11 tests) 95ms`),
      say(`NOTES-${ticket}: a ${kind} now goes on at the confirmed offset, also after the app was closed.`),
    ],
  }
}

function renameField(ticket: number, chance: Chance): Thread {
  const field = chance.pick(['valueDate', 'counterparty', 'purposeLine', 'bookingKey'])
  const snake = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return {
    project: 'ledger-api',
    title: `LEDGER-${ticket}: ${snake} in the bank import`,
    mode: 'agent',
    steps: [
      user(
        `LEDGER-${ticket}: the bank sends ${field} in camel case since today, and the import drops it. Accept both ${field} and ${snake}.`,
      ),
      grep(
        snake,
        `app/imports/camt.py:88:    ${snake} = entry.get("${snake}")`,
        `tests/test_camt.py:14:    assert entry.${snake}`,
      ),
      say(
        `The mapping reads \`${snake}\` alone. An alias in the model takes both spellings and leaves the name in our code as it is.`,
      ),
      edit(
        'app/imports/camt.py',
        `-    ${snake}: str | None = None`,
        `+    ${snake}: str | None = Field(None, validation_alias=AliasChoices("${snake}", "${field}"))`,
      ),
      run('pytest -q tests/test_camt.py', '17 passed in 0.62s'),
      say(`LEDGER-${ticket} is done. Seventeen tests pass, among them one with the file of this morning.`),
    ],
  }
}

function nullPointer(ticket: number, chance: Chance): Thread {
  const project: ProjectKey = 'fleet-gateway'
  const vehicle = chance.pick(['tram', 'sweeper', 'bus', 'ferry'])
  return {
    project,
    title: `FLEET-${ticket}: nil pointer for a ${vehicle} without position`,
    mode: 'agent',
    steps: [
      user(
        `FLEET-${ticket}: panic: runtime error: invalid memory address or nil pointer dereference, as soon as a ${vehicle} reports without a position.`,
      ),
      think(`Position is a pointer in the protobuf message and may be nil. Where is it read without a look?`, 2),
      grep(
        '\\.Position\\.',
        `internal/geo/fence.go:41:\tlat := v.Position.Lat`,
        `internal/geo/fence.go:42:\tlon := v.Position.Lon`,
      ),
      say(
        `\`fence.go\` reads \`v.Position.Lat\` directly. The getters that protoc makes are nil-safe, but 0/0 would then lie in the Gulf of Guinea and outside every fence; so it must be left out.`,
      ),
      edit('internal/geo/fence.go', '+\tif v.Position == nil {', '+\t\treturn Unknown', '+\t}'),
      run('go test ./internal/geo/...', 'ok  \tgateway/internal/geo\t0.412s'),
      say(`FLEET-${ticket}: a ${vehicle} without a position is \`Unknown\` now and raises no alarm.`),
    ],
  }
}
