/** Reads what may lie on a damaged page of a store. @returns null where it does: damage costs what is damaged only */
export function tryRead<Value>(read: () => Value): { readonly value: Value } | null {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^SQLITE_(CORRUPT|IOERR)/.test(String(error.code))) return null
    throw error
  }
}
