//! Samplers and mechanisms at the door.
