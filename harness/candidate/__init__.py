"""Candidates: started in their sandbox, faces for their users, exported, and begun as skeletons."""
