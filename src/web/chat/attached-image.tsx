import { useEffect, useState } from 'preact/hooks'
import { request } from '../lib/api.ts'

/** An attached image, while its file is there. It is fetched, because an image of the document would send no token. */
export function AttachedImage({ href, name }: { href: string; name: string }) {
  const [source, setSource] = useState<string | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const load = async (): Promise<void> => {
      const image = await (await request(href, { signal: abort.signal })).blob()
      const reader = new FileReader()
      reader.addEventListener('load', () => setSource(typeof reader.result === 'string' ? reader.result : null))
      reader.readAsDataURL(image)
    }
    // Without its image the name of the file is there.
    load().catch(() => undefined)
    return () => abort.abort()
  }, [href])
  return source === null ? null : <img class="attached-image" src={source} alt={name} />
}
