import { z } from 'zod'
import { settingsSchema } from './schema.ts'

/** Every key of the settings, dotted; `[]` stands for the entries of a list: `archives.jobs[].keep.daily`. */
export function knownKeys(): string[] {
  return keysBelow(settingsSchema, '')
}

function keysBelow(schema: unknown, name: string): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return keysBelow(schema.unwrap(), name)
  if (schema instanceof z.ZodArray) return keysBelow(schema.element, `${name}[]`)
  if (!(schema instanceof z.ZodObject)) return []
  return Object.entries(schema.shape).flatMap(([key, below]) => {
    const full = name === '' ? key : `${name}.${key}`
    return [full, ...keysBelow(below, full)]
  })
}
