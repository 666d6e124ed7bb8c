import { catalogue } from '@strongroom/contract'

// What `admin catalogue` prints: every offer, as the server has it then.

export const catalogueShape = catalogue.list.response.properties.data
