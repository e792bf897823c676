import * as z from 'zod/mini'
import { settingsSchema } from './schema.ts'

/** Every key of the settings, dotted; `[]` stands for the entries of a list: `archives.jobs[].keep.daily`. */
export function knownKeys(): string[] {
  return keysBelow(settingsSchema, '')
}

function keysBelow(schema: unknown, name: string): string[] {
  if (schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault) {
    return keysBelow(schema.def.innerType, name)
  }
  if (schema instanceof z.ZodMiniArray) return keysBelow(schema.def.element, `${name}[]`)
  if (!(schema instanceof z.ZodMiniObject)) return []
  return Object.entries(schema.shape).flatMap(([key, below]) => {
    const full = name === '' ? key : `${name}.${key}`
    return [full, ...keysBelow(below, full)]
  })
}
