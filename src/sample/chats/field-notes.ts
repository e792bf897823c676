import { edit, failed, file, grep, lines, read, run, say, think, todos, user } from '../script.ts'
import type { Thread } from '../script.ts'

interface Conflict {
  readonly entity: string
  readonly lost: string
  readonly rule: string
}

function syncConflict({ entity, lost, rule }: Conflict): Thread {
  const path = `src/sync/merge-${entity}.ts`
  return {
    project: 'field-notes',
    title: `Offline edits of a ${entity} get lost`,
    mode: 'agent',
    steps: [
      user(
        `Two people edit the same ${entity} offline. After both have synced, ${lost}. I want nothing to be lost, and no dialogue.`,
        file(path),
      ),
      read(
        path,
        `export function merge(mine: Versioned, theirs: Versioned) {\n  return mine.updatedAt > theirs.updatedAt ? mine : theirs\n}\n`,
      ),
      think(
        'Last writer wins on the whole record. Merging field by field against the common ancestor keeps both edits unless both touch the same field.',
        9,
      ),
      say(
        `It is last-writer-wins on the whole ${entity}. With the common ancestor at hand we can merge field by field; where both changed the same field: ${rule}.`,
      ),
      edit(
        path,
        '-export function merge(mine: Versioned, theirs: Versioned) {',
        '-  return mine.updatedAt > theirs.updatedAt ? mine : theirs',
        '+export function merge(base: Versioned, mine: Versioned, theirs: Versioned): Versioned {',
        '+  return mapFields(base, (field, was) => pick(was, mine[field], theirs[field]))',
        ' }',
      ),
      failed(
        run(
          'npx vitest run src/sync',
          `FAIL src/sync/merge-${entity}.test.ts\n  RangeError: Maximum call stack size exceeded`,
        ),
        'Command failed with exit code 1',
      ),
      say(
        '`mapFields` follows `parent`, which points back. I leave relations out of the merge: they are ids and merge by themselves.',
      ),
      edit(path, '+const isRelation = (field: string): boolean => field.endsWith("Id")'),
      run('npx vitest run src/sync', ' ✓ src/sync (28 tests) 340ms'),
      say(`28 tests green, among them the one of two phones in a cellar. Rule for the same field: ${rule}.`),
    ],
  }
}

const migration: Thread = {
  project: 'field-notes',
  title: 'Schema migration 14 fails on old phones',
  mode: 'agent',
  steps: [
    user(
      'Crash reports from Android 9: "no such column: notes.pinned_at (code 1 SQLITE_ERROR)", only after an upgrade from 2.x.',
    ),
    grep(
      'pinned_at',
      'src/db/migrations/0014-pin.ts:3:alter table notes add column pinned_at integer',
      'src/db/views.ts:21:order by pinned_at desc',
    ),
    think(
      'The view is made in migration 12 and already names pinned_at. Newer SQLite checks a view only when it is used, older ones when a table is altered.',
      13,
    ),
    say(
      'Migration 12 makes a view that names `pinned_at`, which only migration 14 adds. SQLite before 3.25 checks views on `alter table`. Android 9 ships 3.22.',
    ),
    edit(
      'src/db/migrations/0014-pin.ts',
      '+drop view if exists sorted_notes;',
      ' alter table notes add column pinned_at integer;',
      '+create view sorted_notes as select * from notes order by pinned_at desc;',
    ),
    run('npx vitest run src/db --sqlite 3.22', ' ✓ src/db/migrations.test.ts (14 tests)'),
    say('Dropped before and made again after. All fourteen migrations now run on 3.22 as well.'),
  ],
}

const regex: Thread = {
  project: 'field-notes',
  title: 'Regex for coordinates',
  mode: 'chat',
  steps: [
    user(
      'I need a regex for coordinates like 52.5200° N, 13.4050° E, also with a comma as the decimal sign and without the degree sign.',
    ),
    say(
      '```js\n/^(\\d{1,2}(?:[.,]\\d+)?)\\s*°?\\s*([NS])\\s*[,;]?\\s*(\\d{1,3}(?:[.,]\\d+)?)\\s*°?\\s*([EW])$/i\n```\n\nIt takes 0 to 99 and 0 to 999; check the range (90 and 180) afterwards in code, a regex makes that unreadable.',
    ),
    user(
      'And minutes and seconds?',
      lines('src/geo/parse.ts', 'export function parseCoordinates(text: string): LatLon | null'),
    ),
    say(
      'Then I would write a small parser: number, unit (`°`, `′`, `″`), up to three times, then the letter. The regex would have fourteen groups.',
    ),
  ],
}

const release: Thread = {
  project: 'field-notes',
  title: 'Release notes for 3.4',
  mode: 'agent',
  steps: [
    user('Write the release notes for 3.4 from the commits since 3.3, for people and not for developers.'),
    run(
      'git log --oneline v3.3..HEAD',
      'a81c0f2 merge notes field by field\n5d0e771 keep pins on top\n09bb1c4 smaller photos (HEIC to AVIF)\nfe21d90 fix crash on Android 9',
    ),
    todos('x read the commits', '> write them', '- shorten'),
    say(
      '**3.4**\n\n- Two people can edit the same note offline; nothing gets lost.\n- Pinned notes stay on top.\n- Photos take a third of the space.\n- The start on Android 9 works again.',
    ),
  ],
}

const lost: Thread = {
  project: null,
  title: 'Shell one-liner for large files',
  mode: 'chat',
  steps: [
    user('One-liner that lists the 20 largest files below the current folder, without node_modules?'),
    say("```sh\nfind . -name node_modules -prune -o -type f -printf '%s %p\\n' | sort -rn | head -20\n```"),
  ],
}

export const fieldNotesChats: readonly Thread[] = [
  syncConflict({ entity: 'note', lost: 'the text of the first one is gone', rule: 'both texts, one below the other' }),
  syncConflict({ entity: 'checklist', lost: 'ticks come back', rule: 'a tick wins' }),
  migration,
  regex,
  release,
  lost,
]
