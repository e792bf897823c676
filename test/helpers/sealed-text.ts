import { sealManifest, type Manifest } from '../../src/archive/manifest.ts'

export const sealedText = (manifest: Manifest): string => Buffer.concat([...sealManifest(manifest)]).toString()
