import { useLocation } from 'preact-iso'
import { useTitle } from '../lib/hooks.ts'
import { StatsReport } from './stats-report.tsx'

export default function StatsScreen() {
  useTitle('Statistics')
  const { url } = useLocation()
  return (
    <main id="main" class="column">
      <h1>Statistics</h1>
      <StatsReport url={url} />
    </main>
  )
}
