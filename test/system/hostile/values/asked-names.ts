import type { AskedNames } from './graft.ts'

/** Records the fields that a decoder reads of parsed JSON. */
export async function noteAskedNames(act: () => Promise<void>): Promise<AskedNames> {
  const asked = new Map<string, Set<string>>()
  const parse = JSON.parse
  JSON.parse = (...given: Parameters<typeof parse>): unknown => watched(parse(...given) as unknown, '', asked)
  try {
    await act()
  } finally {
    JSON.parse = parse
  }
  return asked
}

function watched(value: unknown, holder: string, asked: Map<string, Set<string>>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const isList = Array.isArray(value)
  return new Proxy(value, {
    get(target, name) {
      const child: unknown = Reflect.get(target, name)
      if (typeof name === 'symbol' || name === 'toJSON' || typeof child === 'function') return child
      if (isList) return watched(child, holder, asked)
      const names = asked.get(holder) ?? new Set()
      asked.set(holder, names.add(name))
      return watched(child, name, asked)
    },
  })
}
