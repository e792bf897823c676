export type Fields = Readonly<Record<string, unknown>>

/** @returns undefined if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** @returns null for an empty string or another type */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
