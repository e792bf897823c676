import { UserError } from '../../model/user-error.ts'

/** Nobody types so much; what is more was piped by mistake. */
const OCTETS_MAX = 1024 * 1024

/**
 * The text to look for, from standard input: a command line is what shells write down and what every user of the machine
 * can read. Neither the line feed at its end nor a mark of its encoding at its beginning is of it.
 * @throws UserError `no-match` where nothing is given
 */
export async function readMatch(stdin: AsyncIterable<Buffer | string>): Promise<string> {
  const pieces: Buffer[] = []
  let octets = 0
  for await (const piece of stdin) {
    pieces.push(Buffer.from(piece))
    octets += piece.length
    if (octets > OCTETS_MAX) throw noMatch('Standard input holds more than a text to look for.')
  }
  const match = decode(Buffer.concat(pieces)).replace(/\r?\n$/, '')
  if (match.trim() === '') throw noMatch('Standard input is empty.')
  return match
}

/** What is no text would be found nowhere, and be told as gone. UTF-16 can pass for UTF-8 amid whose letters zeros stand. */
function decode(bytes: Buffer): string {
  if (bytes.includes(0)) throw notUtf8()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw notUtf8(error)
  }
}

const notUtf8 = (cause?: unknown): UserError =>
  new UserError('no-match', 'Standard input is not UTF-8.', 'Save the text as UTF-8, and pipe that in.', {
    exitCode: 2,
    cause,
  })

const noMatch = (text: string): UserError =>
  new UserError('no-match', text, 'Pipe the text in, such as: cursordex purge --match < text-to-remove', {
    exitCode: 2,
  })
