import { UserError } from '../../../model/user-error.ts'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A text as the content of an XML element. @throws UserError `bad-path` for characters that XML cannot express */
export function xmlText(text: string): string {
  if (/(?![\t\n\r])\p{Cc}/u.test(text)) {
    throw new UserError('bad-path', `The path ${text} contains a control character.`, 'Rename the folder.')
  }
  return text
    .replaceAll(/[&<>"]/g, (char) => entities[char] ?? char)
    .replaceAll(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`)
}

/** A text with JSON in it, for an XML comment, in which two hyphens are not allowed. JSON can write them as escapes. */
export const commentOf = (json: string): string =>
  json.replace(/\{.*\}/, (object) => object.replaceAll('-', String.raw`\u002d`))
