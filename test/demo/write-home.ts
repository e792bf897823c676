import { placed, type PackedHome } from '../../src/demo/packed.ts'
import { writeHome } from '../../src/demo/store.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { demo } from './pack.ts'

/** Writes the Cursor of the demo, as it is before the agent goes to work. */
export function writeDemoHome(folder: string, nowMs: number): CursorHome {
  writeHome(folder, JSON.parse(placed(JSON.stringify(demo.home), folder, nowMs)) as PackedHome)
  return new CursorHome(folder)
}
