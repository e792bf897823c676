import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PageFiles } from '../../api/context.ts'

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** No separator and no leading dot: a name cannot leave the folder. */
const NAME = /^[\w-][\w.-]*\.(js|css|svg)$/

/** The files that `npm run build` made, read when they are requested: few, small, and cached by the browser for a year. */
export function pageFiles(folder: string): PageFiles {
  const read = (...names: string[]): Uint8Array<ArrayBuffer> | null => readIfThere(join(folder, ...names))
  return {
    shell: () => {
      const bytes = read('index.html')
      return bytes === null ? null : new TextDecoder().decode(bytes)
    },
    asset: (name) => {
      const type = TYPES[NAME.exec(name)?.[1] ?? '']
      const body = type === undefined ? null : read('assets', name)
      return type === undefined || body === null ? null : { type, body }
    },
  }
}

function readIfThere(path: string): Uint8Array<ArrayBuffer> | null {
  try {
    return new Uint8Array(readFileSync(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
