/** JSON within JSON within JSON: a tool's output may quote a file that quotes a text. */
const ESCAPED_TIMES_MAX = 3

/**
 * Every way in which programs write a text: as it is, composed and decomposed, its lines ended in either way;
 * percent-encoded, as names of files are in URIs; as JSON with more escapes than it needs; and each of these quoted several
 * times over. The letters that are encoded are those given, the small and the capital ones.
 */
export function spellingsOf(text: string): readonly string[] {
  const forms = unique([text, text.normalize('NFC'), text.normalize('NFD')].flatMap(withLineEnds))
  const cased = unique(forms.flatMap((form) => [form, form.toLowerCase(), form.toUpperCase(), folded(form)]))
  const encoded = cased.flatMap((form) => [...percentEncoded(form), ...escaped(form)])
  return unique([...forms, ...encoded].flatMap(quoted))
}

/** A capital sigma becomes another letter at the end of a word, and a match may end where its word does not. */
export const folded = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')

/** A file of Windows may hold what was pasted into a chat without the carriage returns, or the other way round. */
function withLineEnds(text: string): readonly string[] {
  const lines = text.replaceAll('\r\n', '\n')
  return [text, lines, lines.replaceAll('\n', '\r\n')]
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]

/** A component and a whole URI, as JavaScript and, more strictly, editors write them. */
function percentEncoded(text: string): string[] {
  // Half a sign cannot be encoded.
  if (!text.isWellFormed()) return []
  const component = encodeURIComponent(text)
  const strict = component.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
  return [encodeURI(text), ...[component, strict].flatMap((each) => [each, each.replaceAll('%2F', '/')])]
}

/** As JSON of nothing but ASCII; of PHP, which escapes slashes; of Go, and of .NET, which escape what HTML knows. */
function escaped(text: string): string[] {
  const json = inJson(text)
  const ascii = json.replace(/[^ -~]/g, asUnit)
  const slashes = [json, ascii].map(withSlashes)
  return [
    ascii,
    ...slashes,
    // JSON within JSON, both of PHP.
    ...slashes.map((each) => withSlashes(inJson(each))),
    json.replace(/[<>&]/g, asUnit),
    ascii.replaceAll(String.raw`\"`, '"').replace(/["&'+<>`]/g, asUnit),
  ]
}

const withSlashes = (json: string): string => json.replaceAll('/', String.raw`\/`)

const asUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

function quoted(text: string): string[] {
  const levels = [text]
  for (let times = 0; times < ESCAPED_TIMES_MAX; times += 1) levels.push(inJson(levels.at(-1) ?? ''))
  return levels
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
