/** What tests import as better-sqlite3 is what the program loads (`src/sqlite.ts`): a process must not hold both forms. */
export const sqliteAlias = {
  find: /^better-sqlite3$/,
  replacement: Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3',
}
