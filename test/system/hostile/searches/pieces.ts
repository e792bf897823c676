import { readJson, writtenOut } from '../../../helpers/cases.ts'

export type Choices = readonly [string, ...string[]]

type Kind = 'words' | 'marks' | 'spells' | 'signs' | 'real' | 'rubbish'

/** What hostile queries are made of. `real`: ordinary queries, to be mutated. `rubbish`: values of fields. */
export const pieces = writtenOut(readJson(import.meta.url, 'pieces.json') as Readonly<Record<Kind, Choices>>)
