//! What the bench and study programs share.
