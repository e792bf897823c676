import { shortPath, visible } from '../lib/format.ts'

/** Opens the file in Cursor, if its place on this machine is known. */
export const FileLink = ({
  path,
  isShort = false,
  line = null,
}: {
  path: string
  isShort?: boolean
  line?: number | null
}) => {
  const name = visible(isShort ? shortPath(path) : path)
  const isAbsolute = /^(\/|[A-Za-z]:[\\/])/.test(path)
  if (!isAbsolute) return <code title={path}>{name}</code>
  const address = `cursor://file/${encodeURI(path.replaceAll('\\', '/').replace(/^\//, '')).replaceAll('#', '%23').replaceAll('?', '%3F')}${line === null ? '' : `:${line}`}`
  return (
    <a class="file" href={address} title={`Open ${path} in Cursor`}>
      {name}
    </a>
  )
}
