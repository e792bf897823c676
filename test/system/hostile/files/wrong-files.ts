import { execFileSync } from 'node:child_process'
import { chmodSync, ftruncateSync, linkSync, mkdirSync, openSync, closeSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'

/** A word in every wrong file that has text. No line of a log and no message may repeat it. */
export const TEXT = 'marzipanwindow'
const HUGE_BYTES = 300 * 1024 * 1024

/** Makes a wrong file at a path where nothing is. */
export type Make = (path: string) => void

export interface WrongFiles {
  /** By what is wrong. */
  readonly kinds: Readonly<Record<string, Make>>
  /** Call it when all files were made and given to their user: then root's user can no longer open some. */
  shut(): void
  close(): void
}

/** The kinds of wrong files. @param folder of what several of them share */
export async function wrongFiles(folder: string): Promise<WrongFiles> {
  const shared = (name: string): string => join(folder, name)
  const closed: string[] = []
  const sockets = createServer().listen(shared('socket'))
  await once(sockets, 'listening')
  execFileSync('mkfifo', [shared('fifo')])
  const sparse = openSync(shared('sparse'), 'w')
  ftruncateSync(sparse, HUGE_BYTES)
  closeSync(sparse)
  writeFileSync(shared('spaces'), Buffer.alloc(HUGE_BYTES, ' '))
  const database = new Database(shared('database'))
  database.exec(`create table other (text); insert into other values ('${TEXT}')`)
  database.close()
  const json = `{"folder":"file:///home/ada/${TEXT}","role":"user"}`
  const hard =
    (name: string): Make =>
    (path) =>
      linkSync(shared(name), path)
  const link =
    (target: string): Make =>
    (path) =>
      symlinkSync(target, path)
  const text =
    (content: string | Buffer): Make =>
    (path) =>
      writeFileSync(path, content)
  const kinds: Record<string, Make> = {
    'a pipe': hard('fifo'),
    'a socket': hard('socket'),
    'a link to a pipe': link(shared('fifo')),
    'a link to /dev/zero': link('/dev/zero'),
    'a link to /dev/full': link('/dev/full'),
    'a link to /dev/null': link('/dev/null'),
    'an empty folder': (path) => mkdirSync(path),
    'a full folder': (path) => mkdirSync(join(path, 'inner', 'state.vscdb'), { recursive: true }),
    'a loop of links': (path) => (symlinkSync(`${path}.other`, path), symlinkSync(path, `${path}.other`)),
    'a link to itself': (path) => symlinkSync(basename(path), path),
    'a link to nothing': link(shared('nothing')),
    'a link to a huge file': link(shared('spaces')),
    'an endless file of the system': link('/proc/self/mem'),
    'an empty file': text(''),
    'one byte': text('{'),
    'only NULs': text(Buffer.alloc(5000)),
    '300 MB sparse': hard('sparse'),
    '300 MB of spaces': hard('spaces'),
    'arrays in arrays': text('['.repeat(1_000_000) + ']'.repeat(1_000_000)),
    'objects in objects': text('{"a":'.repeat(1_000_000) + '1' + '}'.repeat(1_000_000)),
    commas: text(`[${','.repeat(1_000_000)}]`),
    numbers: text(`[${'1,'.repeat(1_000_000)}1]`),
    'no UTF-8': text(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x80, 0xc0, 0xaf, 0x22, 0x7d])),
    'UTF-16': text(Buffer.from(`\uFEFF${json}`, 'utf16le')),
    'a BOM': text(`\uFEFF${json}`),
    CRLF: text(`${json}\r\n`),
    null: text('null'),
    'a number': text('1e999'),
    'an array': text(`["${TEXT}"]`),
    'a string': text(`"${TEXT}"`),
    'truncated JSON': text(json.slice(0, -3)),
    'keys twice': text(`{"folder":1,"folder":["${TEXT}"],"mcpServers":1,"mcpServers":{}}`),
    __proto__: text(`{"__proto__":{"folder":"${TEXT}"},"constructor":{"prototype":1},"mcpServers":{"__proto__":1}}`),
    'huge numbers': text(`{"folder":${'9'.repeat(400)},"http":{"port":1e400},"pid":-9007199254740993}`),
    'half surrogates': text('{"folder":"file:///\\ud800/\\udfff","\\ud800":"\\udc00"}'),
    gzip: text(gzipSync(json)),
    'a database': (path) => linkSync(shared('database'), path),
    'a text': text(`This is ${TEXT}. `.repeat(500)),
    'a file without permission': (path) => {
      writeFileSync(path, json)
      closed.push(path)
    },
    'a folder without permission': (path) => {
      mkdirSync(path)
      closed.push(path)
    },
  }
  return {
    kinds,
    shut: () => closed.forEach((path) => chmodSync(path, 0)),
    close: () => void sockets.close(),
  }
}

/** Names that the system allows: too long for most purposes, with a line break, of a terminal, and one that is no UTF-8. */
export const wrongNames: readonly (string | Buffer)[] = [
  'n'.repeat(240),
  'line\nbreak',
  '\u001b[31mred',
  '-rf',
  '%00',
  Buffer.from([0x66, 0xff, 0xfe, 0x66]),
]

/** Makes a wrong file, and its folder. */
export function putAt(path: string, make: Make): string {
  mkdirSync(dirname(path), { recursive: true })
  make(path)
  return path
}
