import DOMPurify, { type Config } from 'dompurify'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'

const languages = { bash, cpp, css, diff, go, java, json, python, rust, sql, typescript, xml, yaml }
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)
// The languages name their usual aliases themselves.
hljs.registerAliases(['js', 'jsx', 'mjs', 'cjs', 'javascript', 'vue', 'svelte'], { languageName: 'typescript' })
hljs.registerAliases(['shell', 'console', 'shellscript'], { languageName: 'bash' })
hljs.registerAliases(['c', 'h', 'cs', 'csharp'], { languageName: 'cpp' })
hljs.registerAliases(['scss', 'less'], { languageName: 'css' })
hljs.registerAliases(['toml'], { languageName: 'yaml' })

/** HTML as nodes, without what the policy does not name. Nothing else on the page turns text into nodes. */
export const cleaned = (html: string, policy: Config): DocumentFragment =>
  DOMPurify.sanitize(html, { ...policy, RETURN_DOM_FRAGMENT: true })

/** Coloured code; null for a language that is not known. */
export function highlighted(text: string, language: string | null): DocumentFragment | null {
  if (language === null || hljs.getLanguage(language) === undefined) return null
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true })
  return cleaned(value, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'] })
}
