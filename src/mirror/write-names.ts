import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

/** A name that can be asked for, beside what it names. */
const ADD_NAME = `insert into names (kind, name) values (?, ?) on conflict do nothing`

/** @param marksJson the message's marks, as they are kept */
export function writeNames(db: Mirror, marksJson: string, model: string | null): void {
  for (const mark of JSON.parse(marksJson) as readonly string[]) {
    if (mark.startsWith('tool:')) prepared(db, ADD_NAME).run('tool', mark.slice('tool:'.length))
  }
  if (model !== null) prepared(db, ADD_NAME).run('model', model)
}
