/** What Cursor writes. */
export { Chance } from './cursor/chance.ts'
export * from './cursor/cli-store.ts'
export * from './cursor/cursor-home.ts'
export { toolData } from './cursor/tool-data.ts'
