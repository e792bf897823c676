import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { fileAddress, shortPath, visible } from '../lib/format.ts'

/** The id of the project whose paths are shown; null if it is unknown. */
export const PathsOf = createContext<string | null>(null)

/** A path, which leads to the page of its file. */
export const FileLink = ({ path, isShort = false }: { path: string; isShort?: boolean }) => (
  <a class="file" href={fileAddress(path, useContext(PathsOf))} title={path}>
    {visible(isShort ? shortPath(path) : path)}
  </a>
)
