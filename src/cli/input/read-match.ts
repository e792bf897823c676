import { isUtf8 } from 'node:buffer'
import { UserError } from '../../model/user-error.ts'

/** A larger input was piped by mistake. */
const OCTETS_MAX = 1024 * 1024

/**
 * Reads the text to look for from standard input. In a command line, shells would save it and every user of the machine
 * could read it. A final line feed and an initial byte order mark are not part of the text.
 * @throws UserError `no-match` if the input is empty, too large or not UTF-8
 */
export async function readMatch(stdin: AsyncIterable<Buffer | string>): Promise<string> {
  const pieces: Buffer[] = []
  let octets = 0
  for await (const piece of stdin) {
    pieces.push(Buffer.from(piece))
    octets += piece.length
    if (octets > OCTETS_MAX) throw noMatch('is larger than 1 MB', PIPE)
  }
  const match = decode(Buffer.concat(pieces)).replace(/\r?\n$/, '')
  if (match.trim() === '') throw noMatch('is empty', PIPE)
  return match
}

/** A text in another encoding would be found nowhere and be reported as gone. UTF-16 can look like UTF-8 with zero bytes. */
function decode(bytes: Buffer): string {
  if (!isUtf8(bytes) || bytes.includes(0)) throw noMatch('is not UTF-8', 'Save the text as UTF-8 and try again.')
  return new TextDecoder().decode(bytes)
}

const PIPE = 'Pipe the text in, for example: cursordex purge --match < text-to-remove'

const noMatch = (what: string, hint: string): UserError =>
  new UserError('no-match', `Standard input ${what}.`, hint, { exitCode: 2 })
