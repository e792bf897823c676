/** What Cursor writes: the writers of stores that the demo uses too. */
export { Chance } from '../../src/sample/chance.ts'
export * from '../../src/sample/cli-store.ts'
export * from '../../src/sample/cursor-home.ts'
export { toolData } from '../../src/sample/tool-data.ts'
